import {
  coversRecord,
  type FullRecord,
  noDetails,
  type ParsedRecordId,
  type RecordHistory,
  type RecordStore,
  type Scope,
} from '@ranbook/rules'
import type { LedgerDeps } from './ledger-deps.ts'
import { readById } from './read-by-id.ts'

/** Everything kept about one record beside the audit. `attempts` are those displaced; `now` is the store's clock. */
export type RecordFile = { full: FullRecord; history: RecordHistory; now: number }

/** The record, or null where none stands or it lies outside the scope: the two look the same. Throws `StoreError`. */
export async function getRecord(
  deps: Pick<LedgerDeps, 'store' | 'windows'>,
  scope: Scope,
  { store, digest }: ParsedRecordId,
): Promise<RecordFile | null> {
  const found = store === 'ledger' ? await readLedger(deps.store, digest) : await readWindow(deps, digest)
  return found === null || !coversRecord(scope, found.full.record) ? null : found
}

async function readLedger(
  store: Pick<RecordStore, 'readFull' | 'readHistory'>,
  digest: string,
): Promise<RecordFile | null> {
  const { rows, now } = await store.readFull([digest])
  const full = rows[0] ?? null
  if (full === null) return null
  const history = await store.readHistory(digest)
  // A grant between the two reads archives the attempt that the record still shows as its current one.
  const attempts = history.attempts.filter(({ fencingToken }) => fencingToken < full.record.fencingToken)
  return { full, history: { ...history, attempts }, now }
}

/** A window keeps the record alone. */
async function readWindow(deps: Pick<LedgerDeps, 'store' | 'windows'>, digest: string): Promise<RecordFile | null> {
  const [found] = await readById(deps, 'window', [{ digest, claimToken: null }])
  if (!found) return null
  const full = { record: found.record, details: noDetails, duplicates: null }
  return { full, history: { attempts: [], lateCompletions: [] }, now: found.now }
}
