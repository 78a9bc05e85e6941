import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import type { TransactionSql } from 'postgres'
import { connect } from './connect.ts'
import { hasCode } from './has-code.ts'
import { PostgresRefused } from './postgres-refused.ts'
import type { PostgresTarget } from './postgres-target.ts'
import { storeErrorOf } from './store-error-of.ts'

export type MigrateOptions = {
  target: PostgresTarget
  /** Default: `drizzle/` of this repository. */
  folder?: string
  log?: { info(fields: object, message: string): void }
  /** How long a schema is tried for that others keep busy. Default 60 s. */
  patienceMs?: number
}

const ownFolder = fileURLToPath(new URL('../../../../../drizzle', import.meta.url))

/**
 * A change that waits for a table makes every claim wait behind it: it is given up after this and tried again, so that
 * claims go on in between (p99 191 ms; without, 5 s). Also how long another process that migrates is waited for.
 */
const LOCK_TIMEOUT_MS = 200
const LOCK_NOT_AVAILABLE = '55P03'
const retryAfterMs = 300
const connectTimeoutSeconds = 5

// One number for "Ranbook migrates this database"; any other would do.
const LOCK_MIGRATIONS = 'SELECT pg_advisory_xact_lock(7267210013)'

// The place where drizzle's own tools look.
const HAS_MIGRATIONS = `SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS stands`
const MAKE_MIGRATIONS = `
CREATE SCHEMA IF NOT EXISTS drizzle;
CREATE TABLE drizzle.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`
const READ_MIGRATIONS = 'SELECT hash FROM drizzle.__drizzle_migrations ORDER BY id'
const NOTE_MIGRATION = 'INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES ($1, $2)'

/**
 * Brings the schema up to date, all or nothing, on a connection of its own. Of several processes that start at once one
 * migrates and the others find it done. Works behind a pooler, as everything is one transaction.
 *
 * @throws PostgresRefused `newer_schema` for a schema this version does not know, `busy` where tables stayed locked;
 *   StoreError where the database can't be reached.
 */
export async function migrate({ target, folder, log, patienceMs = 60_000 }: MigrateOptions): Promise<void> {
  const known = readMigrationFiles({ migrationsFolder: folder ?? ownFolder })
  const sql = connect(target, {
    max: 1,
    prepare: false,
    connect_timeout: connectTimeoutSeconds,
    onnotice: () => undefined,
    onSocket: () => undefined,
  })
  const giveUpAt = performance.now() + patienceMs
  try {
    for (;;) {
      try {
        const applied = await sql.begin((transaction) => bringUpToDate(transaction, known))
        if (applied > 0) log?.info({ migrations: applied }, 'The database schema was brought up to date')
        return
      } catch (error) {
        if (!hasCode(error, LOCK_NOT_AVAILABLE)) throw storeErrorOf(error) ?? error
        if (performance.now() > giveUpAt) {
          throw new PostgresRefused(
            `Other sessions kept the tables locked for ${patienceMs / 1000} s, so the schema could not be brought up to date. End them (see pg_stat_activity), then start again.`,
            { code: 'busy', cause: error },
          )
        }
        await delay(retryAfterMs)
      }
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Applies what is missing and answers how many migrations that were. */
async function bringUpToDate(transaction: TransactionSql, known: readonly MigrationMeta[]): Promise<number> {
  await transaction.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
  await transaction.unsafe(LOCK_MIGRATIONS)
  const [table] = await transaction.unsafe<{ stands: boolean }[]>(HAS_MIGRATIONS)
  if (table?.stands !== true) await transaction.unsafe(MAKE_MIGRATIONS)
  const applied = await transaction.unsafe<{ hash: string }[]>(READ_MIGRATIONS)
  refuseUnknown(applied, known)
  const missing = known.slice(applied.length)
  for (const migration of missing) {
    for (const statement of migration.sql) await transaction.unsafe(statement)
    await transaction.unsafe(NOTE_MIGRATION, [migration.hash, migration.folderMillis])
  }
  return missing.length
}

function refuseUnknown(applied: readonly { hash: string }[], known: readonly MigrationMeta[]): void {
  if (applied.length <= known.length && applied.every(({ hash }, at) => hash === known[at]?.hash)) return
  throw new PostgresRefused(
    applied.length > known.length
      ? `The database was migrated by a newer Ranbook (${applied.length} migrations; this version knows ${known.length}). Start that version, or restore a backup from before the upgrade.`
      : 'The database was migrated by another Ranbook, whose migrations this version does not know. Start that version, or use a database of its own.',
    { code: 'newer_schema' },
  )
}
