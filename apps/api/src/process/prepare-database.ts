import { randomBytes } from 'node:crypto'
import { assertDurable } from '../stores/postgres/assert-durable.ts'
import { connect } from '../stores/postgres/connect.ts'
import { createKeyStore } from '../stores/postgres/key-store.ts'
import { migrate } from '../stores/postgres/migrate.ts'
import type { PostgresTarget } from '../stores/postgres/postgres-target.ts'
import { storeErrorOf } from '../stores/postgres/store-error-of.ts'
import { firstAdminKey } from './first-admin-key.ts'
import type { Log } from './log.ts'

export type PrepareOptions = {
  target: PostgresTarget
  log: Log
  /** Make an admin key in the database if it has no key at all. */
  makeFirstKey: boolean
}

/**
 * Does what has to be done once before any process serves from the database: brings its schema up to date, and makes
 * the first admin key where that is asked for and there is none. Returns that key, or null.
 *
 * @throws PostgresRefused where the database may lose what it acknowledged, or its schema is not this version's;
 *   StoreError where it can't be reached.
 */
export async function prepareDatabase({ target, log, makeFirstKey }: PrepareOptions): Promise<string | null> {
  const sql = connect(target, { max: 1, prepare: false, onnotice: () => undefined, onSocket: () => undefined })
  try {
    await assertDurable(sql)
    await migrate({ target, log: { info: (_, message) => log.info({}, message) } })
    return makeFirstKey ? await firstAdminKey(createKeyStore(sql), randomBytes) : null
  } catch (error) {
    throw storeErrorOf(error) ?? error
  } finally {
    await sql.end({ timeout: 1 })
  }
}
