import postgres, { type Sql } from 'postgres'
import { afterAll } from 'vitest'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres/open-postgres.ts'
import { throwawayDatabase } from '../throwaway-postgres.ts'

/** A migrated database of this test file's own, and a client for it. Removed after the file's last test. */
export async function coldDatabase(): Promise<{ sql: Sql; open(): Promise<Postgres>; connect(): Sql }> {
  const database = await throwawayDatabase()
  const clients: Sql[] = []
  const servers: Postgres[] = []
  const connect = (): Sql => {
    const client = postgres({ ...database.connection, max: 4, onnotice: () => {} })
    clients.push(client)
    return client
  }
  await migrate({ target: database.connection })
  const sql = connect()
  const open = async (): Promise<Postgres> => {
    const opened = await openPostgres({ target: database.connection })
    servers.push(opened)
    return opened
  }
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()))
    await Promise.all(clients.map((client) => client.end({ timeout: 1 })))
    await database.drop()
  })
  return { sql, open, connect }
}
