import { coversRecord, type FullRecord, type RecordHistory, type RecordStore, type Scope } from '@ranbook/rules'

/** Everything kept about one record beside the audit. `attempts` are those displaced; `now` is the store's clock. */
export type RecordFile = { full: FullRecord; history: RecordHistory; now: number }

/** The record, or null where none stands or it lies outside the scope: the two look the same. */
export async function getRecord(
  store: Pick<RecordStore, 'readFull' | 'readHistory'>,
  scope: Scope,
  digest: string,
): Promise<RecordFile | null> {
  const { rows, now } = await store.readFull([digest])
  const full = rows[0] ?? null
  if (full === null || !coversRecord(scope, full.record)) return null
  const history = await store.readHistory(digest)
  // A grant between the two reads archives the attempt that the record still shows as its current one.
  const attempts = history.attempts.filter(({ fencingToken }) => fencingToken < full.record.fencingToken)
  return { full, history: { ...history, attempts }, now }
}
