import type { Socket } from 'node:net'
import { StoreError } from '@ranbook/rules'
import type { Sql } from 'postgres'
import { connect, destroySocket } from './connect.ts'
import type { PostgresTarget } from './postgres-target.ts'
import { storeErrorOf } from './store-error-of.ts'

/** Runs one statement with text parameters as an autocommit transaction. Rows are arrays of columns. */
export type Runner = {
  /** @throws StoreError where the outcome is unknown or the database refused for its own reasons. */
  run<Row>(statement: string, parameters: readonly (string | number | null)[]): Promise<Row[]>
}

/** What work on a held connection may do: statements one after the other, and transactions. */
export type Session = Pick<Sql, 'unsafe' | 'begin'>

/** Where a connection can be held for several statements. */
export type Sessions = {
  /**
   * Runs work on one connection and resolves with what it returns. A warning of the database makes it fail, as a write
   * that came with one may be lost.
   *
   * @throws StoreError as `run` does, for all of the work; what the work throws by itself passes as it is.
   */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>
}

/** One connection, for one statement or one work at a time. */
export type Lane = Runner & Sessions & { close(): Promise<void> }

export type LaneOptions = {
  target: PostgresTarget
  /** Settings the session starts with; a pooler takes none. */
  settings: Readonly<Record<string, string | number>>
  /** Whether statements are prepared once and kept under a name; a pooler may not keep them. */
  named: boolean
  /** Who is not done by then has lost the connection. Above the server's own limits, which leave nothing running. */
  deadlineMs: number
}

/** Refuses a standby, where a stale row would be decided upon. Also takes in what the server says to a new session. */
const IS_STANDBY = 'SELECT pg_is_in_recovery()'

/** Text and JSON come as they are, numbers of up to 32 bits and doubles as numbers, bytea as its text. */
const types = { bytea: { to: 17, from: [17], serialize: asIs, parse: asIs } }

/**
 * A connection that is made when it is first needed, and made anew after anything that leaves its state in doubt. It
 * fails at once where the database can't be reached, and never throws outside of `run`.
 */
export function createLane({ target, settings, named, deadlineMs }: LaneOptions): Lane {
  let client: Sql | null = null
  let socket: Socket | null = null
  let warning: string | null = null
  let closed = false

  function open(): Sql {
    const connection = connect(target, {
      max: 1,
      prepare: named,
      types,
      connection: settings,
      // It would end a connection under a statement that is about to use it.
      max_lifetime: null,
      // A failed attempt is told at once; the next call may try at once.
      backoff: () => 0,
      onSocket: (opened) => {
        socket = opened
      },
      // postgres.js would connect anew by itself, and nobody would ask whether that server is a standby.
      onclose: () => {
        if (client === connection) client = null
        abandon(connection)
      },
      onnotice: (notice) => {
        if (notice['severity'] === 'WARNING') warning = notice['message'] ?? 'a warning without a text'
      },
    })
    client = connection
    return connection
  }

  function discard(): void {
    const ending = client
    client = null
    if (socket !== null) destroySocket(socket)
    if (ending !== null) abandon(ending)
  }

  async function ready(): Promise<Sql> {
    if (closed) throw new StoreError('store_unavailable', 'the database was closed by this process')
    if (client !== null) return client
    const opened = open()
    const [row] = await opened.unsafe(IS_STANDBY).values()
    if (row?.[0] !== false) {
      throw new StoreError('store_unavailable', 'the database is a standby, where nothing can be decided')
    }
    return opened
  }

  async function use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    let late = false
    const timer = setTimeout(() => {
      late = true
      discard()
    }, deadlineMs)
    try {
      const sql = await ready()
      warning = null
      const done = await work(sql)
      // A cancelled wait for a synchronous standby reports success with a warning: the row may be lost with this server.
      if (warning !== null) throw warned(warning)
      return done
    } catch (error) {
      if (late) throw noAnswer(deadlineMs, error)
      // Whatever failed, the connection goes: postgres.js carries a count of rows from a statement that ended in the
      // middle of them into the next answer, which then begins with holes.
      discard()
      throw storeErrorOf(error) ?? error
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    use,

    run<Row>(statement: string, parameters: readonly (string | number | null)[]): Promise<Row[]> {
      return use(async (session) => {
        const rows = await session.unsafe(statement, [...parameters], { prepare: named }).values()
        return rows as unknown as Row[]
      })
    },

    async close() {
      closed = true
      const ending = client
      client = null
      await ending?.end({ timeout: deadlineMs / 1000 })
    },
  }
}

/** Makes a client refuse whatever is still asked of it. Its connection is gone whatever becomes of its goodbye. */
function abandon(client: Sql): void {
  client.end({ timeout: 0 }).catch(() => undefined)
}

function warned(text: string): StoreError {
  return new StoreError('store_unavailable', 'the database answered with a warning', { cause: new Error(text) })
}

function noAnswer(deadlineMs: number, cause: unknown): StoreError {
  return new StoreError('store_unavailable', `no answer within ${deadlineMs} ms`, { cause })
}

function asIs(text: string): string {
  return text
}
