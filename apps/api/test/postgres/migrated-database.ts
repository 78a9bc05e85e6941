import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll } from 'vitest'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres/open-postgres.ts'
import type { PostgresTarget } from '../../src/stores/postgres/postgres-target.ts'
import { throwawayDatabase } from '../throwaway-postgres.ts'

export type MigratedDatabase = {
  target: PostgresTarget
  postgres: Postgres
  /** A client of the test's own, with PostgreSQL's own settings. */
  sql: Sql
  close(): Promise<void>
}

/** A database of its own with the schema in it, opened as the product opens it. */
export async function openMigrated(): Promise<MigratedDatabase> {
  const database = await throwawayDatabase()
  const target = database.connection
  await migrate({ target })
  const opened = await openPostgres({ target })
  const sql = postgres({ ...target, max: 2, onnotice: () => undefined })
  return {
    target,
    postgres: opened,
    sql,
    close: async () => {
      await Promise.all([opened.close(), sql.end({ timeout: 1 })])
      await database.drop()
    },
  }
}

/** One migrated database for all tests of a file. The function it returns is only to be called within a test. */
export function migratedDatabase(): () => MigratedDatabase {
  let opened: MigratedDatabase | undefined
  beforeAll(async () => {
    opened = await openMigrated()
  })
  afterAll(() => opened?.close())
  return () => {
    if (opened === undefined) throw new Error('the database is opened before the first test')
    return opened
  }
}
