import { type RunReplaysDeps, runReplays } from '../ledger/run-replays.ts'
import { type Job, repeatedly } from './job.ts'

export type ReplayRunnerDeps = Omit<RunReplaysDeps, 'stopping'> & { failed: (error: unknown) => void }

/** A person who has just asked for a replay sees it begin. */
const everyMs = 500

/** Runs replays that wait, and looks for others again soon after. Stops between two steps. */
export function startReplayRunner({ failed, ...deps }: ReplayRunnerDeps): Job {
  let stopping = false
  const job = repeatedly(everyMs, () => runReplays({ ...deps, stopping: () => stopping }), failed)
  return {
    stop: () => {
      stopping = true
      return job.stop()
    },
  }
}
