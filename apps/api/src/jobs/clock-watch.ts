import { type Job, repeatedly } from './job.ts'

const checkEveryMs = 1000
/** Leases last a second at least; a smaller step is slewing, a larger one is a clock that was set. */
const jumpMs = 5000

/** `storeClockMs` and `processMs` are how far each moved between two checks. */
export type ClockJump = { storeClockMs: number; processMs: number }

export type ClockWatchDeps = {
  /** The store's clock, in ms since 1970. */
  storeNow: () => Promise<number>
  /** A clock of this process that nobody can set, in ms from anywhere. */
  processNow: () => number
  jumped: (jump: ClockJump) => void
  failed: (error: unknown) => void
}

/**
 * Compares the store's clock with the process's own each second and reports a step of more than 5 s between them, in
 * either direction. Leases go on by the store's clock; this only makes the step known.
 */
export function startClockWatch({ storeNow, processNow, jumped, failed }: ClockWatchDeps): Job {
  let last: { store: number; before: number; after: number } | null = null
  return repeatedly(
    checkEveryMs,
    async () => {
      const before = processNow()
      const store = await storeNow()
      const after = processNow()
      if (last !== null) {
        const storeClockMs = store - last.store
        // The store read its clock somewhere between `before` and `after`: only a step that no such moment explains counts.
        const atLeast = before - last.after
        const atMost = after - last.before
        if (storeClockMs > atMost + jumpMs || storeClockMs < atLeast - jumpMs) {
          jumped({ storeClockMs, processMs: Math.round((atLeast + atMost) / 2) })
        }
      }
      last = { store, before, after }
    },
    failed,
  )
}
