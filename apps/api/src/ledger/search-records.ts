import { type ListedRecord, type RecordFilter, type RecordStore, type Scope, seesEverything } from '@ranbook/rules'

/** What a page of records is limited to. Times in ms; `after` is the last row of the page before. */
export type RecordQuery = Omit<RecordFilter, 'digests' | 'scope'>

/** `last` is the position to go on from, null where nothing is left. `now` is the store's clock. */
export type RecordPage = { rows: ListedRecord[]; last: RecordFilter['after']; now: number }

/** One page of the records the caller may read, newest first. */
export async function searchRecords(
  store: Pick<RecordStore, 'search'>,
  scope: Scope,
  query: RecordQuery,
): Promise<RecordPage> {
  // One row more than asked for tells whether there is a next page.
  const { rows, now } = await store.search({
    ...query,
    digests: null,
    scope: seesEverything(scope) ? null : [scope],
    limit: query.limit + 1,
  })
  const page = rows.slice(0, query.limit)
  const end = rows.length > query.limit ? page.at(-1)?.record : undefined
  return { rows: page, last: end ? { firstClaimedAt: end.firstClaimedAt, digest: end.digest } : null, now }
}
