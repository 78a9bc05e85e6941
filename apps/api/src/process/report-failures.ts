import type { Log } from './log.ts'

/** A job that runs each second while the database is away would otherwise say so each second. */
const quietMs = 60_000

/** Logs that a job failed, at most once a minute. The job itself goes on. */
export function reportFailures(log: Log, job: string): (error: unknown) => void {
  let saidAt = Number.NEGATIVE_INFINITY
  return (error) => {
    const now = performance.now()
    if (now - saidAt < quietMs) return
    saidAt = now
    log.warn({ job, error }, 'A background job failed and is tried again; it is silent about it for a minute')
  }
}
