import { randomBytes } from 'node:crypto'
import { assertDurable } from '../stores/postgres/assert-durable.ts'
import { createLane } from '../stores/postgres/lane.ts'
import { migrate } from '../stores/postgres/migrate.ts'
import type { PostgresTarget } from '../stores/postgres/postgres-target.ts'
import { lostAfterMs } from '../stores/postgres/session-settings.ts'
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
  const lane = createLane({ target, settings: {}, named: false, deadlineMs: lostAfterMs })
  try {
    await lane.use(assertDurable)
    await migrate({ target, log: { info: (_, message) => log.info({}, message) } })
    return makeFirstKey ? await lane.use((session) => firstAdminKey(session, randomBytes)) : null
  } finally {
    await lane.close()
  }
}
