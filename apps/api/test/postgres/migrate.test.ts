import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import postgres, { type Sql } from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import { throwawayDatabase } from '../throwaway-postgres.ts'

const ownFolder = fileURLToPath(new URL('../../../../drizzle', import.meta.url))
const known = readMigrationFiles({ migrationsFolder: ownFolder })

async function emptyDatabase() {
  const database = await throwawayDatabase()
  const sql = postgres({ ...database.connection, max: 2, onnotice: () => undefined })
  onTestFinished(async () => {
    await sql.end({ timeout: 1 })
    await database.drop()
  })
  return { target: database.connection, sql }
}

const hashesIn = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ hash: string }[]>`SELECT hash FROM drizzle.__drizzle_migrations ORDER BY id`
  return rows.map(({ hash }) => hash)
}

/** The migrations of this repository and one more. */
async function newerFolder(statement: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ranbook-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(ownFolder, folder, { recursive: true })
  const journalFile = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(await readFile(journalFile, 'utf8'))
  const last = journal.entries.at(-1)
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag: 'one_more' })
  await writeFile(journalFile, JSON.stringify(journal))
  await writeFile(join(folder, 'one_more.sql'), statement)
  return folder
}

test('processes that start at once migrate once, and all find the schema standing', async () => {
  const { target, sql } = await emptyDatabase()
  await Promise.all(Array.from({ length: 6 }, () => migrate({ target })))
  expect(await hashesIn(sql)).toEqual(known.map(({ hash }) => hash))
  const [setting] = await sql`SELECT value #>> '{}' AS began FROM setting WHERE name = 'ledger_began_at'`
  expect(Date.parse(setting?.['began'])).toBeGreaterThan(0)
})

test('a migration that fails leaves nothing of itself, and those before it as they were', async () => {
  const { target, sql } = await emptyDatabase()
  await migrate({ target })
  const folder = await newerFolder('CREATE TABLE half (id int);--> statement-breakpoint\nSELECT 1 / 0')
  await expect(migrate({ target, folder })).rejects.toMatchObject({ code: '22012' })
  expect(await hashesIn(sql)).toEqual(known.map(({ hash }) => hash))
  expect(await sql`SELECT to_regclass('half') AS half`).toEqual([{ half: null }])
})

test('a schema that a newer version made is refused with a sentence', async () => {
  const { target, sql } = await emptyDatabase()
  await migrate({ target, folder: await newerFolder('CREATE TABLE newer (id int)') })
  expect(await hashesIn(sql)).toHaveLength(known.length + 1)
  await expect(migrate({ target })).rejects.toMatchObject({
    name: 'PostgresRefused',
    code: 'newer_schema',
    message: expect.stringMatching(/migrated by a newer Ranbook \(\d+ migrations; this version knows \d+\)\. Start/),
  })
})

test('a schema of unknown migrations is refused and not touched', async () => {
  const { target, sql } = await emptyDatabase()
  await migrate({ target })
  await sql`UPDATE drizzle.__drizzle_migrations SET hash = ${randomUUID()}`
  await expect(migrate({ target })).rejects.toMatchObject({ code: 'newer_schema' })
})

test('a table that others use is waited for in short tries, so that they are not held up', async () => {
  const { target, sql } = await emptyDatabase()
  await migrate({ target })
  const folder = await newerFolder('ALTER TABLE record ADD COLUMN more int')
  const using = await sql.reserve()
  await using`BEGIN`
  await using`SELECT count(*) FROM record`
  const migrating = migrate({ target, folder })
  await expect(migrate({ target, folder, patienceMs: 500 })).rejects.toMatchObject({ code: 'busy' })
  // Others go on while it waits: a queued ALTER TABLE would hold this up until the reader above is done.
  expect(await sql`SELECT count(*)::int AS records FROM record`).toEqual([{ records: 0 }])
  await using`COMMIT`
  using.release()
  await migrating
  expect(await hashesIn(sql)).toHaveLength(known.length + 1)
})

test('a database that can’t be reached is told as such, at once', async () => {
  const { target } = await emptyDatabase()
  const nowhere = { ...target, path: `${target.path}.none` }
  await expect(migrate({ target: nowhere })).rejects.toMatchObject({ name: 'StoreError', code: 'store_unavailable' })
})
