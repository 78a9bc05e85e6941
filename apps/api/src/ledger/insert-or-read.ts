import { type InsertOutcome, type NewRecord, type RecordStore, StoreError } from '@ranbook/rules'
import { ItemFailure } from './item-failure.ts'

/**
 * `insertIfAbsent`, and where nothing of it could be inserted for another reason than that the database is away or busy,
 * what stands is read all the same: new claims of many callers share a statement with repeated ones, and a disk that is
 * full must not keep the latter from their answer. Failures are those for which nothing stands.
 *
 * @throws StoreError where neither was possible.
 */
export async function insertOrRead(
  store: Pick<RecordStore, 'insertIfAbsent' | 'read'>,
  records: readonly NewRecord[],
): Promise<(InsertOutcome | ItemFailure)[]> {
  try {
    return await store.insertIfAbsent(records)
  } catch (error) {
    if (error instanceof StoreError && error.code !== 'storage_full') throw error
    const failure = new ItemFailure(error)
    const found = await store.read(
      records.map(({ request }) => ({ digest: request.digest, claimToken: request.claimToken })),
    )
    return found.map((standing) => (standing === null ? failure : { inserted: false, ...standing }))
  }
}
