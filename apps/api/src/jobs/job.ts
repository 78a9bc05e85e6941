/** Work that goes on beside requests. Safe to run in any number of processes at once. */
export type Job = {
  /** Resolves once nothing of it runs any more, and nothing starts again. */
  stop(): Promise<void>
}

/**
 * Runs `work` at once, and again `everyMs` after it ended, until stopped. A run that fails is told to `failed`, and the
 * next one comes all the same.
 */
export function repeatedly(everyMs: number, work: () => Promise<void>, failed: (error: unknown) => void): Job {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const run = async (): Promise<void> => {
    try {
      await work()
    } catch (error) {
      failed(error)
    }
    if (!stopped) timer = setTimeout(start, everyMs)
  }
  const start = (): void => {
    running = run()
  }
  start()

  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
