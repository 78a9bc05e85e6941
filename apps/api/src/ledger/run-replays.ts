import { setTimeout as delay } from 'node:timers/promises'
import type { ReplayRules, ReplayStore } from '@ranbook/rules'

/** A transaction of some 20 ms: a claim of one of its keys waits no longer. */
const stepRecords = 200
/** After a step the database has as long to itself as the step took, at least this: some 4 000 records a second at most. */
const pauseMinMs = 25

export type RunReplaysDeps = {
  store: Pick<ReplayStore, 'step'>
  rules: ReplayRules
  /** A clock that nobody can set, in ms. */
  monotonicMs: () => number
  /** Asked between steps: true ends the run. */
  stopping: () => boolean
}

/**
 * Steps replays, the one whose turn is longest ago first, until none has anything to do. Any number of processes may run
 * it at once. Throws `StoreError` and `PoliciesStale`; what was done until then stands.
 */
export async function runReplays({ store, rules, monotonicMs, stopping }: RunReplaysDeps): Promise<void> {
  while (!stopping()) {
    const startedAt = monotonicMs()
    if ((await store.step(stepRecords, rules)) === null) return
    await delay(Math.max(pauseMinMs, monotonicMs() - startedAt))
  }
}
