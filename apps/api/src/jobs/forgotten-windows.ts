import { type Job, repeatedly } from './job.ts'

/** Forgotten records are answered as absent at once; this only gives their space back. */
const everyMs = 5000
/** As long as one statement deletes as many, claims beside it do not notice. */
const batchRecords = 1000

export type ForgottenWindowsDeps = {
  /** Removes forgotten records, at most so many. Returns how many. */
  remove: (limit: number) => Promise<number>
  failed: (error: unknown) => void
}

/** Removes what windows in Postgres have forgotten, batch after batch until little is left, then again after 5 s. */
export function startForgottenWindows({ remove, failed }: ForgottenWindowsDeps): Job {
  let stopping = false
  const job = repeatedly(
    everyMs,
    async () => {
      while (!stopping && (await remove(batchRecords)) === batchRecords);
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
