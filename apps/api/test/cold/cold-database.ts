import { readFile } from 'node:fs/promises'
import postgres, { type Sql } from 'postgres'
import { createMemoryStore, type RecordStore } from '@ranbook/rules'
import { afterAll } from 'vitest'
import { throwawayDatabase } from '../throwaway-postgres.ts'

/** A migrated database of this test file's own, and a client for it. Removed after the file's last test. */
export async function coldDatabase(): Promise<{ sql: Sql; records: RecordStore; connect(): Sql }> {
  const database = await throwawayDatabase()
  const clients: Sql[] = []
  const connect = (): Sql => {
    const client = postgres({ ...database.connection, max: 4, onnotice: () => {} })
    clients.push(client)
    return client
  }
  const sql = connect()
  const text = await readFile(new URL('../../../../drizzle/0000_ledger.sql', import.meta.url), 'utf8')
  for (const statement of text.split('--> statement-breakpoint')) await sql.unsafe(statement)
  await sql`INSERT INTO setting (name, value, updated_at) VALUES ('ledger_began_at', to_json(now()), now()) ON CONFLICT DO NOTHING`
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end({ timeout: 1 })))
    await database.drop()
  })
  return { sql, records: createMemoryStore({ now: Date.now }), connect }
}
