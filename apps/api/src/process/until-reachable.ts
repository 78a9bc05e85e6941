import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '@ranbook/rules'
import { backoffMs } from './backoff.ts'
import type { Log } from './log.ts'
import { StartRefused } from './start-refused.ts'

/** Started together with its database, as in a compose file, the server waits this long for it. */
const patienceMs = 10_000

/**
 * The first work on an external database, repeated while that can't be reached.
 *
 * @param place host and database for the sentence, without user and password.
 * @throws StartRefused when it can't be reached for 10 s, or at once when it refuses user, password or database name.
 */
export async function untilReachable<T>(place: string, log: Log, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + patienceMs
  for (let failures = 0; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      const code = causeCode(error)
      const answer = refusal(code)
      if (answer !== null)
        throw new StartRefused(`DATABASE_URL: PostgreSQL at ${place} ${answer} (${code}).`, { cause: error })
      if (performance.now() > giveUpAt) {
        throw new StartRefused(
          `DATABASE_URL: PostgreSQL at ${place} can't be reached (${code}). Start it, correct DATABASE_URL, or unset it for the embedded database.`,
          { cause: error },
        )
      }
      if (failures === 0) log.warn({ error }, 'The database can not be reached yet and is tried again')
      await delay(backoffMs(failures))
    }
  }
}

/** What PostgreSQL says no to whenever it is asked, in words; null for what may pass. */
function refusal(code: string): string | null {
  if (code.startsWith('28')) return 'refuses this user or password'
  if (code === '3D000') return 'has no such database: create it first'
  return null
}

function causeCode({ code, cause }: StoreError): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : code
}
