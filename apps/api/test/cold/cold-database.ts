import postgres, { type Sql } from 'postgres'
import { afterAll } from 'vitest'
import type { ColdConnections } from '../../src/stores/postgres/cold-connections.ts'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres/open-postgres.ts'
import { throwawayDatabase } from '../throwaway-postgres.ts'

export type ColdDatabase = {
  sql: Sql
  /** Opens it as the product does. */
  open(): Promise<Postgres>
  /** The cold connections of a process of its own. */
  cold(): Promise<ColdConnections>
}

/** A migrated database of this test file's own, and a client for it. Removed after the file's last test. */
export async function coldDatabase(): Promise<ColdDatabase> {
  const database = await throwawayDatabase()
  const servers: Postgres[] = []
  await migrate({ target: database.connection })
  const sql = postgres({ ...database.connection, max: 4, onnotice: () => {} })
  const open = async (): Promise<Postgres> => {
    const opened = await openPostgres({ target: database.connection })
    servers.push(opened)
    return opened
  }
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()))
    await sql.end({ timeout: 1 })
    await database.drop()
  })
  return { sql, open, cold: async () => (await open()).cold }
}
