import type { Change } from './decide.ts'
import { isLeaseLive, type LedgerRecord } from './record.ts'

/**
 * What the sweeper writes when it meets a record whose lease may be over, or null when the lease is live after all.
 * `hold` becomes held; `retry` only stops being looked for. No answer depends on it: `visibleState` and `decide` judge
 * the lease themselves.
 */
export function noticeExpiry(record: LedgerRecord, now: number): Change | null {
  if (record.state !== 'claimed' || isLeaseLive(record, now)) return null
  const noticed: LedgerRecord = { ...record, version: record.version + 1, sweepAt: null }
  const next: LedgerRecord = record.onLeaseExpiry === 'hold' ? { ...noticed, state: 'held' } : noticed
  return { expectVersion: record.version, record: next, grants: false, archive: null, fill: null, audit: null }
}
