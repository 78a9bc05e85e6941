import { statsLimits } from '@ranbook/contract'
import type { MismatchStore, StatsStore } from '@ranbook/rules'
import { type Job, repeatedly } from './job.ts'

/** A minute's rows at a time would do; ten at once are still one small batch for most. */
const everyMs = 600_000
/** Deleted in one statement, some milliseconds long. */
const batchRows = 1000

export type StatsKeeperDeps = {
  stats: Pick<StatsStore, 'forget'>
  mismatches: Pick<MismatchStore, 'forget'>
  failed: (error: unknown) => void
}

/** Forgets counts and mismatches older than 30 days, batch after batch until none is left, then again ten minutes on. */
export function startStatsKeeper({ stats, mismatches, failed }: StatsKeeperDeps): Job {
  let stopping = false
  const forgetAll = async (store: StatsKeeperDeps['stats' | 'mismatches']): Promise<void> => {
    while (!stopping && (await store.forget(statsLimits.keptMs, batchRows)) === batchRows);
  }
  const job = repeatedly(
    everyMs,
    async () => {
      await forgetAll(stats)
      await forgetAll(mismatches)
    },
    failed,
  )
  return {
    stop: () => {
      stopping = true
      return job.stop()
    },
  }
}
