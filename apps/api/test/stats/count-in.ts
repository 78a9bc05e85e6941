import { startMismatchTally } from '../../src/jobs/mismatch-tally.ts'
import { startStatsTally } from '../../src/jobs/stats-tally.ts'
import { createLedgerObserver } from '../../src/process/ledger-observer.ts'
import { createMismatchStore } from '../../src/stores/postgres/mismatch-store.ts'
import { createStatsStore } from '../../src/stores/postgres/stats-store.ts'
import type { ColdApp } from '../cold/cold-app.ts'

const failed = (error: unknown): never => {
  throw error
}
const lost = (): never => failed(new Error('nothing may be lost here'))

/**
 * Lets the app count as a process does, until what is returned is called: then it is stored, as a drain does. Counting
 * goes on with another call.
 */
export function countIn({ deps, cold }: ColdApp): () => Promise<void> {
  const stats = startStatsTally({ store: createStatsStore(cold), lost, failed })
  const mismatches = startMismatchTally({ store: createMismatchStore(cold), lost, failed })
  const nothing = (): void => {}
  deps.ledger.observer = createLedgerObserver({
    metrics: { claimAnswered: nothing, settled: nothing, leaseExpired: nothing },
    tally: nothing,
    stats,
    mismatched: mismatches.add,
    wake: deps.waitRoom.wake,
  })
  return async () => {
    await Promise.all([stats.stop(), mismatches.stop()])
  }
}
