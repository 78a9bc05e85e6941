import { StoreError } from '@ranbook/rules'

/** Bounds what is asked of Redis at once, and how long it is waited for. */
export type BoundedCalls = {
  /**
   * Sends `count` commands and resolves with all their answers. Refuses before anything is sent where too many are in
   * flight. What is given up may still be carried out.
   *
   * @throws StoreError `overloaded`, or `window_unavailable` after the deadline; what a command was refused with passes.
   */
  all<Answer>(count: number, send: () => Promise<Answer>[]): Promise<Answer[]>
}

/** A single call with more commands is let through alone. */
export function boundedCalls({ inFlightMax, deadlineMs }: { inFlightMax: number; deadlineMs: number }): BoundedCalls {
  let inFlight = 0

  return {
    async all(count, send) {
      if (inFlight > 0 && inFlight + count > inFlightMax) {
        throw new StoreError('overloaded', `${inFlight} commands wait for Redis already`)
      }
      inFlight += count
      const answers = Promise.all(send()).finally(() => {
        inFlight -= count
      })
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(new StoreError('window_unavailable', `no answer from Redis within ${deadlineMs} ms`))
        }, deadlineMs)
      })
      try {
        return await Promise.race([answers, late])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
