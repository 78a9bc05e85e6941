import type { StoreError } from '@ranbook/rules'
import { StartRefused } from './start-refused.ts'

/** Started together with its database, as in a compose file, the server waits this long for it. */
const patienceMs = 10_000

export type DatabasePlace = {
  embedded: boolean
  /** Host and database, or the folder, for a sentence; without user and password. */
  place: string
}

/**
 * Ends the tries of a start (`untilReachable`) that will not come to anything.
 *
 * @throws StartRefused when the database wasn't reached for 10 s, or at once when it refuses user, password or database
 *   name.
 */
export function refuseUnreachable({ embedded, place }: DatabasePlace, error: StoreError, triedForMs: number): void {
  const code = causeCode(error)
  const name = embedded ? `The embedded database in ${place}` : `DATABASE_URL: PostgreSQL at ${place}`
  const answer = refusal(code)
  if (answer !== null) throw new StartRefused(`${name} ${answer} (${code}).`, { cause: error })
  if (triedForMs > patienceMs) {
    const advice = embedded
      ? 'See postgres.log there, then start again.'
      : 'Start it, correct DATABASE_URL, or unset it for the embedded database.'
    throw new StartRefused(`${name} can't be reached (${code}). ${advice}`, { cause: error })
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
