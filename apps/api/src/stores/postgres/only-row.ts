import { StoreError } from '@ranbook/rules'

/**
 * The row of a statement that always answers one. Throws StoreError where none came: an absent answer is never taken for
 * an empty one, such as no policies.
 */
export function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new StoreError('store_unavailable', 'the database answered without the row asked for')
  return row
}
