import { spawn } from 'node:child_process'
import { chown, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { binaryPackage } from '../../src/stores/postgres/embedded-binaries.ts'
import { killHard } from '../faults/kill-hard.ts'
import { openForTest } from './open-for-test.ts'
import { processesIn } from './processes-in.ts'
import { query } from './query.ts'
import { recoverEndlessly } from './recover-endlessly.ts'
import { begunDataDir, temporaryDataDir } from './temporary-data-dir.ts'

describe('starting', () => {
  test('the first start makes a durable PostgreSQL 18 with checksums that listens on no TCP port', async () => {
    const embedded = await openForTest(await temporaryDataDir(), { fsync: true })
    const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'listen_addresses'] as const
    const settings = names.map((name) => `current_setting('${name}') AS ${name}`).join(', ')

    expect(embedded.adopted).toBe(false)
    expect(
      await query(embedded.connection, `SELECT current_setting('server_version') LIKE '18.%' AS is18, ${settings}`),
    ).toEqual([
      {
        is18: true,
        fsync: 'on',
        full_page_writes: 'on',
        synchronous_commit: 'on',
        data_checksums: 'on',
        listen_addresses: '',
      },
    ])
  })

  test('durability can not be switched off from inside the database', async () => {
    const dataDir = await temporaryDataDir()
    const first = await openForTest(dataDir, { fsync: true })
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await query(first.connection, `ALTER SYSTEM SET ${name} = off`)
    }
    await first.stop()

    const second = await openForTest(dataDir, { fsync: true })
    expect(
      await query(
        second.connection,
        `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name`,
      ),
    ).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'full_page_writes', setting: 'on' },
      { name: 'synchronous_commit', setting: 'on' },
    ])
  })

  test('text is compared by code point and classified as Unicode, whichever locales the host has', async () => {
    const { connection } = await openForTest(await begunDataDir())
    expect(await query(connection, `SELECT 'Z' < 'a' AS by_code_point, lower('ÄŞ') AS lowered`)).toEqual([
      { by_code_point: true, lowered: 'äş' },
    ])
  })

  test('a stopped database has no process left, and the next start finds what it held', async () => {
    const dataDir = await begunDataDir()
    const first = await openForTest(dataDir)
    await query(first.connection, 'CREATE TABLE kept AS SELECT 7 AS value')
    await first.stop()
    expect(processesIn(dataDir)).toEqual([])

    const second = await openForTest(dataDir)
    expect(second.adopted).toBe(false)
    expect(await query(second.connection, 'SELECT value FROM kept')).toEqual([{ value: 7 }])
  })

  test('a stop with open connections and an open transaction does not wait for them', async () => {
    const dataDir = await begunDataDir()
    const embedded = await openForTest(dataDir)
    await query(embedded.connection, 'CREATE TABLE never (value int)')
    const ended = Promise.all(
      ['SELECT pg_sleep(600)', 'BEGIN; INSERT INTO never VALUES (1); SELECT pg_sleep(600)'].map((statement) =>
        expect(query(embedded.connection, statement)).rejects.toThrow(),
      ),
    )
    await vi.waitUntil(async () => {
      const [row] = await query(
        embedded.connection,
        `SELECT count(*)::int AS busy FROM pg_stat_activity WHERE wait_event = 'PgSleep'`,
      )
      return row?.['busy'] === 2
    })

    await embedded.stop()
    await ended
    expect(processesIn(dataDir)).toEqual([])
  })

  test('a first start that was cut short is done again', async () => {
    const dataDir = await temporaryDataDir()
    await (await openForTest(dataDir)).stop()
    await rename(join(dataDir, 'postgres'), join(dataDir, 'postgres-new-cut-short'))
    await rm(join(dataDir, 'postgres-new-cut-short', 'global'), { recursive: true })

    const { connection } = await openForTest(dataDir)
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect((await readdir(dataDir)).sort()).toEqual(['alive', 'postgres', 'postgres.log', 'sock', 'users'])
  })

  test('a lock file left by a power cut does not keep it from starting, whoever has the process number now', async () => {
    const dataDir = await begunDataDir()
    const first = await openForTest(dataDir)
    const lock = join(dataDir, 'postgres', 'postmaster.pid')
    const text = await readFile(lock, 'utf8')
    await first.stop()
    const { uid, gid } = await stat(dataDir)
    const other = spawn('sleep', ['600'], { uid, gid, cwd: '/' })
    onTestFinished(() => void other.kill())
    await writeFile(lock, text.replace(/^\d+/, String(other.pid)), { mode: 0o600 })
    await chown(lock, uid, gid)

    const second = await openForTest(dataDir)
    expect(await query(second.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('a database that somebody started by hand on the folder keeps its lock, and the start is refused', async () => {
    const dataDir = await begunDataDir()
    await (await openForTest(dataDir)).stop()
    const { uid, gid } = await stat(dataDir)
    const { native } = await binaryPackage()
    const cluster = join(dataDir, 'postgres')
    const byHand = spawn(join(native, 'bin', 'postgres'), ['-D', cluster, '-c', 'listen_addresses=', '-k', cluster], {
      uid,
      gid,
      cwd: '/',
    })
    onTestFinished(() => void byHand.kill('SIGINT'))
    await vi.waitUntil(async () => (await readdir(cluster)).includes('.s.PGSQL.5432'), { timeout: 10_000 })

    await expect(openForTest(dataDir)).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringContaining('lock file "postmaster.pid" already exists'),
    })
    expect(await readFile(join(cluster, 'postmaster.pid'), 'utf8')).toMatch(new RegExp(`^${byHand.pid}\n`))
  })
})

describe('sharing', () => {
  test('a second start adopts the running database, and the last one to stop ends it', async () => {
    const dataDir = await begunDataDir()
    const starter = await openForTest(dataDir)
    const adopter = await openForTest(dataDir)
    expect([starter.adopted, adopter.adopted]).toEqual([false, true])
    expect(adopter.postmasterPid).toBe(starter.postmasterPid)

    await starter.stop()
    expect(await query(adopter.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await adopter.stop()
    expect(processesIn(dataDir)).toEqual([])
  })

  test('starts at the same time on a new folder end up with one database', async () => {
    const dataDir = await temporaryDataDir()
    const all = await Promise.all([openForTest(dataDir), openForTest(dataDir), openForTest(dataDir)])
    expect(new Set(all.map(({ postmasterPid }) => postmasterPid)).size).toBe(1)

    for (const one of all) {
      expect(await query(one.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
      await one.stop()
    }
    expect(processesIn(dataDir)).toEqual([])
  })

  test('a start while the database is stopping waits for it and starts anew', async () => {
    const dataDir = await begunDataDir()
    let serving = await openForTest(dataDir)
    for (let round = 0; round < 5; round += 1) {
      const [, next] = await Promise.all([serving.stop(), openForTest(dataDir)])
      expect(await query(next.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
      serving = next
    }
  })
})

describe('a crash', () => {
  test.each([
    ['every process of the database', (dataDir: string) => processesIn(dataDir)],
    ['only its first process', (_: string, postmaster: number) => [postmaster]],
  ])('kill -9 of %s is reported, and restart() brings back all that was acknowledged', async (_, victims) => {
    const dataDir = await begunDataDir()
    const onCrash = vi.fn()
    const embedded = await openForTest(dataDir, { onCrash })
    const sql = postgres({ ...embedded.connection, max: 1, fetch_types: false })
    await sql`CREATE TABLE kept AS SELECT 7 AS value`
    const before = embedded.postmasterPid

    await killHard(victims(dataDir, before))
    await vi.waitUntil(() => onCrash.mock.calls.length === 1, { timeout: 10_000 })
    await Promise.all([embedded.restart(), embedded.restart()])

    expect(embedded.postmasterPid).not.toBe(before)
    expect(await sql`SELECT value FROM kept`).toEqual([{ value: 7 }])
    await sql.end()
  })

  test('stop() gives up a restart that is still recovering, and ends what it started', async () => {
    const dataDir = await begunDataDir()
    const onCrash = vi.fn()
    const embedded = await openForTest(dataDir, { onCrash })
    await recoverEndlessly(dataDir)
    await killHard(processesIn(dataDir))
    await vi.waitUntil(() => onCrash.mock.calls.length === 1, { timeout: 10_000 })
    const restarted = expect(embedded.restart()).rejects.toThrow('aborted')
    await vi.waitUntil(() => processesIn(dataDir).length > 0, { timeout: 10_000 })

    await embedded.stop()
    expect(processesIn(dataDir)).toEqual([])
    await restarted
  })

  test('every process that used the database can restart it, and they share it again', async () => {
    const dataDir = await begunDataDir()
    const onCrash = vi.fn()
    const both = [await openForTest(dataDir, { onCrash }), await openForTest(dataDir, { onCrash })]
    await killHard(processesIn(dataDir))
    await vi.waitUntil(() => onCrash.mock.calls.length === 2, { timeout: 10_000 })

    await Promise.all(both.map((one) => one.restart()))
    expect(new Set(both.map(({ postmasterPid }) => postmasterPid)).size).toBe(1)
    await both[0]?.stop()
    expect(await query(both[1]?.connection ?? expect.fail(), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('one killed connection is not a crash: PostgreSQL recovers by itself', async () => {
    const onCrash = vi.fn()
    const embedded = await openForTest(await begunDataDir(), { onCrash })
    const sql = postgres({ ...embedded.connection, max: 1, fetch_types: false })
    const [row] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    process.kill(row?.pid ?? expect.fail(), 'SIGKILL')

    await vi.waitFor(async () => expect(await query(embedded.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]), {
      timeout: 10_000,
    })
    await sql.end()
    expect(onCrash).not.toHaveBeenCalled()
  })

  test('restart() does nothing to a database that runs, and is refused after a stop', async () => {
    const embedded = await openForTest(await begunDataDir())
    const before = embedded.postmasterPid
    await embedded.restart()
    expect(
      await query(embedded.connection, `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid`),
    ).toEqual([{ pid: before }])

    await embedded.stop()
    await embedded.stop()
    await expect(embedded.restart()).rejects.toMatchObject({ code: 'start_failed' })
  })
})
