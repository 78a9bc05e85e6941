import { type PruneDeps, prune } from '../ledger/prune.ts'
import { type Job, repeatedly } from './job.ts'

export type PrunerDeps = Omit<PruneDeps, 'stopping'> & { everyMs: number; failed: (error: unknown) => void }

/** Runs retention at once and again `everyMs` after a run ended. Stops between two batches. */
export function startPruner({ everyMs, failed, ...deps }: PrunerDeps): Job {
  let stopping = false
  const job = repeatedly(everyMs, () => prune({ ...deps, stopping: () => stopping }), failed)
  return {
    stop: () => {
      stopping = true
      return job.stop()
    },
  }
}
