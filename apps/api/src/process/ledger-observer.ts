import type { LedgerObserver } from '../ledger/ledger-deps.ts'
import type { Metrics } from './metrics.ts'

export type ObserverDeps = {
  metrics: Pick<Metrics, 'claimAnswered' | 'settled' | 'leaseExpired'>
  /** Tallies a suppressed delivery. */
  tally: (digest: string, now: number) => void
  /** Wakes the claims of this process that wait for the record. */
  wake: (digest: string) => void
}

/** Counts what happens in the ledger, tallies suppressed duplicates and wakes who waits for a record that changed. */
export function createLedgerObserver({ metrics, tally, wake }: ObserverDeps): LedgerObserver {
  return {
    claimed: () => metrics.claimAnswered('claimed'),
    answered: (outcome, record, now) => {
      metrics.claimAnswered(outcome)
      if (outcome === 'duplicate') tally(record.digest, now)
    },
    settled: (verb, record) => {
      metrics.settled(verb)
      wake(record.digest)
    },
    expired: (record) => {
      metrics.leaseExpired()
      wake(record.digest)
    },
  }
}
