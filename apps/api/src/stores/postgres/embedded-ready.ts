import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { EmbeddedPostgresError } from './embedded-error.ts'
import { hasCode } from './has-code.ts'

/** What postgres.js needs to reach the embedded database; spread it into its options. */
export type EmbeddedConnection = {
  /** The Unix socket. */
  readonly path: string
  readonly user: string
  readonly database: string
}

// Asks who serves, which proves that it serves. pg_postmaster_start_time() would not tell one postmaster's number.
const POSTMASTER_PID = `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid`

/** A start takes about 50 ms; after a crash the log is replayed first, which a slow disk may stretch to minutes. */
const START_LIMIT_MS = 300_000
const RETRY_MS = 10

/**
 * Waits until the database answers a query, which after a crash is when it has recovered.
 *
 * @param gone settles when the database's processes are gone.
 * @param signal ends the wait when it is aborted.
 * @returns the postmaster's process id, or undefined when the database went away before it was ready.
 * @throws EmbeddedPostgresError `start_failed` when it refuses for another reason, or isn't ready after five minutes;
 *   the signal's reason.
 */
export async function postmasterWhenReady(
  connection: EmbeddedConnection,
  gone: Promise<unknown>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const giveUpAt = performance.now() + START_LIMIT_MS
  let ended = false
  const end = gone.then(() => {
    ended = true
  })
  while (!ended) {
    try {
      return await postmasterPid(connection)
    } catch (cause) {
      if (!isNotReady(cause) || performance.now() > giveUpAt) {
        throw new EmbeddedPostgresError(`The embedded database can't be used: ${String(cause)}.`, {
          code: 'start_failed',
          cause,
        })
      }
    }
    await Promise.race([end, delay(RETRY_MS)])
    signal.throwIfAborted()
  }
  return undefined
}

async function postmasterPid(connection: EmbeddedConnection): Promise<number> {
  // Its query for array types, when a starting database refuses it, would be a rejection that nobody can handle.
  const sql = postgres({ ...connection, max: 1, connect_timeout: 5, fetch_types: false })
  try {
    const [row] = await sql.unsafe<{ pid: number }[]>(POSTMASTER_PID)
    if (row === undefined) throw new Error('No row came back')
    return row.pid
  } finally {
    await sql.end({ timeout: 0 })
  }
}

function isNotReady(error: unknown): boolean {
  return [
    // No socket yet, or one that nobody listens on any more.
    'ENOENT',
    'ECONNREFUSED',
    // Cut off while the database was ending.
    'ECONNRESET',
    'EPIPE',
    'CONNECTION_CLOSED',
    'CONNECTION_ENDED',
    'CONNECT_TIMEOUT',
    // admin_shutdown, crash_shutdown, cannot_connect_now: ending, or starting up.
    '57P01',
    '57P02',
    '57P03',
    // too_many_connections: an adopted database under full load.
    '53300',
  ].some((code) => hasCode(error, code))
}
