import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import { openPostgres, type Postgres, type PostgresTarget } from '../../src/stores/postgres/open-postgres.ts'
import { inserted } from '../conformance/asked-of-store.ts'
import { newRecord } from '../conformance/new-record.ts'
import { openForTest } from '../embedded/open-for-test.ts'
import { begunDataDir } from '../embedded/temporary-data-dir.ts'
import { killHard, postgresIn } from '../faults/kill-hard.ts'

async function openFor(target: PostgresTarget): Promise<Postgres> {
  const opened = await openPostgres({ target })
  onTestFinished(() => opened.close())
  return opened
}

/** A database that can be killed. */
async function killable() {
  const dataDir = await begunDataDir()
  let noticed = (): void => undefined
  const database = await openForTest(dataDir, { onCrash: () => noticed() })
  await migrate({ target: database.connection })
  return {
    dataDir,
    database,
    opened: await openFor(database.connection),
    /** Resolves when the launcher has noticed, too. */
    kill: async () => {
      const gone = new Promise<void>((resolve) => {
        noticed = resolve
      })
      await killHard(postgresIn(dataDir))
      await gone
    },
  }
}

/** How many of many concurrent calls of every kind were refused; anything but a StoreError fails. */
async function refusals({ records, cold, now }: Postgres): Promise<{ calls: number; refused: number }> {
  const calls = [
    ...Array.from({ length: 200 }, () => records.insertIfAbsent([newRecord()])),
    records.findExpired(10),
    records.readFull([newRecord().request.digest]),
    now(),
    ...Object.values(cold).map((sessions) => sessions.use((session) => session.begin((sql) => sql.unsafe('SELECT 1')))),
  ]
  const outcomes = await Promise.allSettled(calls)
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  for (const failure of failures) expect(failure).toMatchObject({ name: 'StoreError', code: 'store_unavailable' })
  return { calls: calls.length, refused: failures.length }
}

test('a database that is killed is answered for at once, and used again once it is back, with all it acknowledged', async () => {
  const { database, opened, kill } = await killable()
  for (let round = 0; round < 3; round++) {
    const before = await inserted(opened.records, newRecord())
    const underway = refusals(opened)
    await kill()
    await underway
    const { calls, refused } = await refusals(opened)
    expect(refused).toBe(calls)

    await database.restart()
    await expect.poll(async () => (await refusals(opened)).refused, { timeout: 10_000 }).toBe(0)
    const [standing] = await opened.records.read([{ digest: before.digest, claimToken: null }])
    expect(standing?.record).toEqual(before)
  }
})

test('connections that the server closes cost no answer once they are seen to be closed', async () => {
  const { opened } = await killable()
  for (let round = 0; round < 5; round++) {
    await refusals(opened)
    await opened.cold.changes.use((session) =>
      session.unsafe(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`),
    )
    await expect.poll(async () => (await refusals(opened)).refused, { timeout: 10_000 }).toBe(0)
  }
})

test('a standby is never decided on', async () => {
  const { dataDir, database, opened, kill } = await killable()
  const record = await inserted(opened.records, newRecord())
  await writeFile(join(dataDir, 'postgres', 'standby.signal'), '')
  await kill()
  await database.restart()

  const read = [{ digest: record.digest, claimToken: null }]
  const standby = { code: 'store_unavailable', message: expect.stringContaining('standby') }
  await expect(opened.records.read(read)).rejects.toMatchObject(standby)
  await expect(opened.records.insertIfAbsent([newRecord()])).rejects.toMatchObject({ code: 'store_unavailable' })
  for (const sessions of Object.values(opened.cold)) {
    await expect(sessions.use((session) => session.unsafe('SELECT 1'))).rejects.toMatchObject(standby)
  }
})
