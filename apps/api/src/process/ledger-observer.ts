import type { LedgerRecord } from '@ranbook/rules'
import type { LedgerObserver } from '../ledger/ledger-deps.ts'
import type { Metrics } from './metrics.ts'

export type ObserverDeps = {
  metrics: Pick<Metrics, 'claimAnswered' | 'settled' | 'leaseExpired'>
  /** Tallies a suppressed delivery. */
  tally: (digest: string, now: number) => void
  /** Counts by class and minute. */
  stats: LedgerObserver
  /** Counts a delivery with another payload. */
  mismatched: (record: LedgerRecord, now: number) => void
  /** Wakes the claims of this process that wait for the record. */
  wake: (digest: string) => void
}

/** Counts what happens in the ledger, tallies suppressed duplicates and mismatches, and wakes who waits for a record that changed. */
export function createLedgerObserver({ metrics, tally, stats, mismatched, wake }: ObserverDeps): LedgerObserver {
  return {
    claimed: (record) => {
      metrics.claimAnswered('claimed')
      stats.claimed(record)
    },
    answered: (outcome, record, now) => {
      metrics.claimAnswered(outcome)
      stats.answered(outcome, record, now)
      if (outcome === 'mismatch') mismatched(record, now)
      // Windows keep no tally.
      if (outcome === 'duplicate' && record.window === null) tally(record.digest, now)
    },
    settled: (verb, record) => {
      metrics.settled(verb)
      stats.settled(verb, record)
      wake(record.digest)
    },
    expired: (record) => {
      metrics.leaseExpired()
      stats.expired(record)
      wake(record.digest)
    },
  }
}
