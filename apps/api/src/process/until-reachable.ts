import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '@ranbook/rules'
import { backoffMs } from './backoff.ts'
import type { Log } from './log.ts'

/**
 * Work on a database, repeated with growing pauses of 5 s at most while that can't be reached. What else it throws is
 * thrown at once.
 *
 * @param giveUp is told of each failed try and for how long there were such, in ms; what it throws ends them. Without
 *   it they go on for ever: a database that was there comes back.
 */
export async function untilReachable<T>(
  log: Log,
  work: () => Promise<T>,
  giveUp: (error: StoreError, triedForMs: number) => void = () => {},
): Promise<T> {
  const startedAt = performance.now()
  for (let failures = 0; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      giveUp(error, performance.now() - startedAt)
      if (failures === 0) log.warn({ error }, 'The database can not be reached and is tried again')
      await delay(backoffMs(failures))
    }
  }
}
