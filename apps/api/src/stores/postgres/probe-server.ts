import type { Socket } from 'node:net'
import postgres from 'postgres'
import { connect, destroySocket } from './connect.ts'
import type { PostgresTarget } from './postgres-target.ts'
import { hotSettings, lostAfterMs } from './session-settings.ts'
import { storeErrorOf } from './store-error-of.ts'

/** What has to be known of a server before it is used. */
export type Server = {
  /** Such as 150004. */
  versionNumber: number
  /** A pooler stands between that keeps no session settings. */
  pooled: boolean
}

const PROBE = `SELECT current_setting('server_version_num')::int, current_setting('enable_seqscan')`

/** protocol_violation: what pgbouncer says to a setting it does not know. */
const UNSUPPORTED_SETTING = '08P01'

/** Asks the server. Throws StoreError when it can't be reached. */
export async function probeServer(target: PostgresTarget): Promise<Server> {
  try {
    const [versionNumber, seqscan] = await probe(target, hotSettings)
    // Asked off and yet on: a pooler that was told to ignore settings.
    return { versionNumber, pooled: seqscan === 'on' }
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || error.code !== UNSUPPORTED_SETTING) {
      throw storeErrorOf(error) ?? error
    }
  }
  try {
    const [versionNumber] = await probe(target, {})
    return { versionNumber, pooled: true }
  } catch (error) {
    throw storeErrorOf(error) ?? error
  }
}

async function probe(
  target: PostgresTarget,
  settings: Readonly<Record<string, string | number>>,
): Promise<readonly [number, string]> {
  let socket: Socket | undefined
  const sql = connect(target, {
    max: 1,
    connection: settings,
    onnotice: () => undefined,
    onSocket: (opened) => {
      socket = opened
    },
  })
  const timer = setTimeout(() => socket && destroySocket(socket), lostAfterMs)
  try {
    const [row] = await sql.unsafe(PROBE).values()
    return row as unknown as readonly [number, string]
  } finally {
    clearTimeout(timer)
    await sql.end({ timeout: 1 })
  }
}
