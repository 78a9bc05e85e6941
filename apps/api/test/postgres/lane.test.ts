import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createLane, type LaneOptions } from '../../src/stores/postgres/lane.ts'
import { createLanePool } from '../../src/stores/postgres/lane-pool.ts'
import { migratedDatabase } from './migrated-database.ts'

const opened = migratedDatabase()

function laneTo(options: Partial<LaneOptions> = {}) {
  const lane = createLane({ target: opened().target, settings: {}, named: true, deadlineMs: 10_000, ...options })
  onTestFinished(() => lane.close())
  return lane
}

const unavailable = { name: 'StoreError', code: 'store_unavailable' }

test('a write that succeeds with a warning counts as unknown', async () => {
  const lane = laneTo()
  const warning = lane.run(`DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication'; END $$`, [])
  await expect(warning).rejects.toMatchObject(unavailable)
  expect(await lane.run('SELECT 1', [])).toEqual([[1]])
})

test('work whose transaction commits with a warning counts as unknown', async () => {
  const lane = laneTo()
  const written = lane.use((session) =>
    session.begin(async (transaction) => {
      await transaction.unsafe(`DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication'; END $$`)
      return 'written'
    }),
  )
  await expect(written).rejects.toMatchObject(unavailable)
  expect(await lane.use((session) => session.unsafe('SELECT 1 AS one'))).toEqual([{ one: 1 }])
})

test('work whose connection is cut is not continued on another one', async () => {
  const lane = laneTo()
  const cut = lane.use(async (session) => {
    await session.unsafe('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined)
    const answer = () => session.unsafe('SELECT 1').catch(({ code }: NodeJS.ErrnoException) => code)
    await expect.poll(answer).toBe('CONNECTION_ENDED')
    return session.unsafe('SELECT 1')
  })
  await expect(cut).rejects.toMatchObject(unavailable)
  expect(await lane.run('SELECT 1', [])).toEqual([[1]])
})

test('what work throws by itself passes as it is, and its transaction leaves nothing', async () => {
  const lane = laneTo()
  const fault = new Error('of the work')
  const failing = lane.use((session) =>
    session.begin(async (transaction) => {
      await transaction.unsafe('CREATE TABLE half (id int)')
      throw fault
    }),
  )
  await expect(failing).rejects.toBe(fault)
  expect(await lane.run(`SELECT to_regclass('half')`, [])).toEqual([[null]])
})

test('a notice is no warning', async () => {
  const lane = laneTo()
  expect(await lane.run(`DO $$ BEGIN RAISE NOTICE 'by the way'; END $$`, [])).toEqual([])
})

test.each([
  ['a time limit', 'SELECT pg_sleep(60)', { statement_timeout: 50 }, 'overloaded'],
  ['a read-only server', 'CREATE TABLE t (id int)', { default_transaction_read_only: 'on' }, 'store_unavailable'],
  ['an unknown database', 'SELECT 1', { database: 'none' }, 'store_unavailable'],
  ['an operator', 'SELECT pg_terminate_backend(pg_backend_pid())', {}, 'store_unavailable'],
] as const)(
  'a statement that %s ended is told as such, not as a fault of ours',
  async (_by, statement, settings, code) => {
    await expect(laneTo({ settings }).run(statement, [])).rejects.toMatchObject({ name: 'StoreError', code })
  },
)

test('a fault of ours passes as it is, and what follows has a connection of its own', async () => {
  const lane = laneTo()
  const [[backend] = []] = await lane.run<[number]>('SELECT pg_backend_pid()', [])
  await expect(lane.run('SELECT 1 / 0', [])).rejects.toMatchObject({ name: 'PostgresError', code: '22012' })
  expect(await lane.run('SELECT pg_backend_pid()', [])).not.toEqual([[backend]])
})

test('a connection that was cut is made anew by the next statement', async () => {
  const lane = laneTo()
  const [[backend] = []] = await lane.run<[number]>('SELECT pg_backend_pid()', [])
  await opened().sql`SELECT pg_terminate_backend(${backend ?? 0}, 5000)`
  await expect
    .poll(() => lane.run<[number]>('SELECT pg_backend_pid()', []).catch(() => [[backend]]))
    .not.toEqual([[backend]])
})

test('a server that accepts and never answers is given up after the deadline, each time', async () => {
  const sockets: { destroyed: boolean }[] = []
  const server = createServer((socket) => {
    sockets.push(socket.resume())
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on a port')
  const lane = laneTo({ target: `postgres://nobody@127.0.0.1:${address.port}/none`, deadlineMs: 100 })
  for (let round = 1; round <= 2; round++) {
    await expect(lane.run('SELECT 1', [])).rejects.toThrow('no answer within 100 ms')
    await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBe(round)
  }
})

test('a statement that outlives the deadline is given up, and its connection with it', async () => {
  const lane = laneTo({ deadlineMs: 1000 })
  const [[backend] = []] = await lane.run<[number]>('SELECT pg_backend_pid()', [])
  await expect(lane.run('SELECT pg_sleep(60)', [])).rejects.toThrow('no answer within 1000 ms')
  const [[next] = []] = await lane.run<[number]>('SELECT pg_backend_pid()', [])
  expect(next).not.toBe(backend)
  await opened().sql`SELECT pg_terminate_backend(${backend ?? 0})`
})

test('nobody waits for ever for a connection that others keep busy', async () => {
  const pool = createLanePool([laneTo()])
  const busy = pool.run('SELECT pg_sleep(1)', [])
  const refused = Promise.allSettled(Array.from({ length: 5 }, () => pool.run('SELECT 1', [])))
  expect((await refused).map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual(
    Array.from({ length: 5 }, () => 'overloaded'),
  )
  await busy
  expect(await pool.run('SELECT 1', [])).toEqual([[1]])
})

test('an answer after a statement that failed in the middle of its rows has all of its own rows', async () => {
  const lane = laneTo()
  const failing = 'SELECT n, 1 / (n - 3) FROM generate_series(1, 5) AS n'
  for (let round = 0; round < 3; round++) {
    await expect(lane.run(failing, [])).rejects.toMatchObject({ code: '22012' })
    expect(await lane.run('SELECT n FROM generate_series(1, 2) AS n', [])).toEqual([[1], [2]])
  }
})
