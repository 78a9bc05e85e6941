import type { ClaimStore, LedgerRecord, NewRecord } from '@ranbook/rules'

/** Inserts one record that nobody had and returns it. */
export async function inserted(store: ClaimStore, record: NewRecord): Promise<LedgerRecord> {
  const [outcome] = await store.insertIfAbsent([record])
  if (!outcome?.inserted) throw new Error(`${record.request.key} stood there already`)
  return outcome.record
}

/** Applies one change that nobody contends, and returns what stands then. */
export async function changed(
  store: ClaimStore,
  change: Parameters<ClaimStore['compareAndSet']>[0][number],
): Promise<LedgerRecord> {
  const [written] = await store.compareAndSet([change])
  if (!written) throw new Error(`version ${change.expectVersion} does not stand`)
  return written.record
}

/** The record as a fresh read shows it. */
export async function standing(store: ClaimStore, digest: string): Promise<LedgerRecord> {
  const [found] = await store.read([{ digest, claimToken: null }])
  if (!found) throw new Error(`no record ${digest}`)
  return found.record
}
