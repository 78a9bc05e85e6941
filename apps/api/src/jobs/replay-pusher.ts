import { type PushReplaysDeps, pushReplays } from '../ledger/push-replays.ts'
import { type Job, repeatedly } from './job.ts'

export type ReplayPusherDeps = Omit<PushReplaysDeps, 'stopping'> & { failed: (error: unknown) => void }

/** The first retry comes after a second. */
const everyMs = 500

/** Posts what replays have to post. Stops between two pushes. */
export function startReplayPusher({ failed, ...deps }: ReplayPusherDeps): Job {
  let stopping = false
  const job = repeatedly(everyMs, () => pushReplays({ ...deps, stopping: () => stopping }), failed)
  return {
    stop: () => {
      stopping = true
      return job.stop()
    },
  }
}
