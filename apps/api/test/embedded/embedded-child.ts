// A process that uses the embedded database, for tests that kill it or run it as another user.
// Arguments: the data folder, and a uid to change to first.
import postgres from 'postgres'
import { EmbeddedPostgresError } from '../../src/stores/postgres/embedded-error.ts'
import { openEmbedded } from '../../src/stores/postgres/open-embedded.ts'

/** What the child tells its parent. */
export type ChildReport =
  | { readonly is: 'open'; readonly adopted: boolean; readonly postmasterPid: number }
  | { readonly is: 'refused'; readonly code: string; readonly message: string }
  | { readonly is: 'answer'; readonly value: number }
  | { readonly is: 'stopped' }

/** What its parent tells it: to send a query, or to leave the database and end. */
export type ChildOrder = 'ask' | 'stop'

const [, , dataDir = '', uid] = process.argv
const report = (message: ChildReport): boolean | undefined => process.send?.(message)

// Ctrl-C in a terminal reaches every process of the group; this one drains first.
process.on('SIGINT', () => {})
if (uid !== undefined) {
  process.setgroups?.([])
  process.setgid?.(Number(uid))
  process.setuid?.(Number(uid))
}

try {
  const embedded = await openEmbedded({ dataDir, log: { info: () => {}, warn: () => {} }, fsync: false })
  const sql = postgres({ ...embedded.connection, max: 1, fetch_types: false })
  process.on('message', (order: ChildOrder) => {
    void (order === 'ask' ? ask() : stop())
  })
  const ask = async (): Promise<void> => {
    const [row] = await sql<{ value: number }[]>`SELECT 42 AS value`
    report({ is: 'answer', value: row?.value ?? Number.NaN })
  }
  const stop = async (): Promise<void> => {
    await sql.end()
    await embedded.stop()
    report({ is: 'stopped' })
    process.disconnect()
  }
  report({ is: 'open', adopted: embedded.adopted, postmasterPid: embedded.postmasterPid })
} catch (error) {
  if (!(error instanceof EmbeddedPostgresError)) throw error
  report({ is: 'refused', code: error.code, message: error.message })
  process.disconnect()
}
