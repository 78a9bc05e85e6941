import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { lookAtRedis } from '../../src/jobs/look-at-redis.ts'
import { startRedisWatch } from '../../src/jobs/redis-watch.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { createRedisStateStore, type RedisStateStore } from '../../src/stores/postgres/redis-state-store.ts'
import { type OpenRedis, openRedis } from '../../src/stores/redis/open-redis.ts'
import { migratedDatabase } from '../postgres/migrated-database.ts'
import { observer } from './observer.ts'
import { type RedisProcess, startRedisProcess } from './redis-process.ts'

const database = migratedDatabase()
const windowMs = 60_000

beforeEach(async () => {
  const { sql, postgres } = database()
  await sql`DELETE FROM window_loss`
  await sql`DELETE FROM class_place`
  await sql`DELETE FROM setting WHERE name = 'window_redis'`
  const until = (await postgres.now()) + windowMs
  await createClassStore(postgres.cold).raisePlaces([{ class: 'page.viewed', place: 'redis', until }], false)
})

async function opened(server: RedisProcess): Promise<OpenRedis> {
  const redis = await openRedis({ url: server.url, failed: () => {} })
  onTestFinished(() => redis.close())
  return redis
}

function stateStore(): RedisStateStore {
  return createRedisStateStore(database().postgres.cold)
}

type Loss = { class: string | null; cause: string; from_at: Date; to_at: Date; until_at: Date }

function losses(): Promise<Loss[]> {
  return database().sql<Loss[]>`SELECT class, cause, from_at, to_at, until_at FROM window_loss ORDER BY id`
}

async function causes(): Promise<string[]> {
  return (await losses()).map(({ cause }) => cause)
}

test('a Redis that is met for the first time gets a marker that lasts, and lost nothing', async () => {
  const server = await startRedisProcess()
  await observer(await opened(server), stateStore()).check()
  expect(Number(await server.ask('PTTL', 'rb:epoch:0'))).toBeGreaterThan(29 * 24 * 3_600_000)
  expect(await losses()).toEqual([])
})

test('a flush is declared once, however many processes notice it, until the last record that it may have taken is over', async () => {
  const server = await startRedisProcess()
  const redis = await opened(server)
  const processes = [1, 2, 3].map(() => observer(redis, stateStore()))
  await Promise.all(processes.map(({ check }) => check()))
  const goodAt = Date.now()
  await server.ask('FLUSHALL')
  const flushedAt = Date.now()
  await Promise.all(processes.map(({ check }) => check()))
  const [loss, ...more] = await losses()
  expect(more).toEqual([])
  expect(loss).toMatchObject({ class: null, cause: 'flushed' })
  expect(loss?.from_at.getTime()).toBeLessThanOrEqual(goodAt)
  expect(loss?.to_at.getTime()).toBeGreaterThanOrEqual(flushedAt)
  const [place] = await database().sql<{ redis_until: Date }[]>`SELECT redis_until FROM class_place`
  expect(loss?.until_at).toEqual(place?.redis_until)
})

test('a flush while no process ran is declared by the next one that starts, from when all was last there', async () => {
  const server = await startRedisProcess()
  await observer(await opened(server), stateStore()).check()
  const goodAt = Date.now()
  await server.ask('FLUSHALL')
  await observer(await opened(server), stateStore()).check()
  const [loss] = await losses()
  expect(loss?.cause).toBe('flushed')
  expect(loss?.from_at.getTime()).toBeLessThanOrEqual(goodAt)
})

test('where no window ever had a record in Redis, a flush is no loss', async () => {
  await database().sql`DELETE FROM class_place`
  const server = await startRedisProcess()
  const process = observer(await opened(server), stateStore())
  await process.check()
  await server.ask('FLUSHALL')
  await process.check()
  expect(await losses()).toEqual([])
})

test('a restart without its data is told from one with it, whose disk may have been 10 s behind', async () => {
  const server = await startRedisProcess()
  const process = observer(await opened(server), stateStore())
  await process.check()
  await server.kill()
  await server.wipe()
  await server.start()
  await process.check()
  expect(await causes()).toEqual(['empty'])
  const goodAt = Date.now()
  await process.check()
  await server.kill()
  await server.start()
  await process.check()
  const [, loss] = await losses()
  expect(loss?.cause).toBe('failed_over')
  expect(loss?.from_at.getTime()).toBeLessThan(Date.now() - 10_000)
  expect(loss?.from_at.getTime()).toBeGreaterThanOrEqual(goodAt - 10_000 - 5000)
  expect(loss?.to_at.getTime()).toBeGreaterThanOrEqual(goodAt)
})

test('another Redis at another address is a loss with its marker or without', async () => {
  const [first, other] = await Promise.all([startRedisProcess(), startRedisProcess()])
  await observer(await opened(first), stateStore()).check()
  await observer(await opened(other), stateStore()).check()
  expect(await causes()).toEqual(['replaced'])
  await observer(await opened(first), stateStore()).check()
  expect(await causes()).toEqual(['replaced'])
})

test('evictions that go on make one span', async () => {
  const server = await startRedisProcess(['--appendonly', 'no', '--enable-debug-command', 'local'])
  const process = observer(await opened(server), stateStore())
  await process.check()
  await server.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random')
  for (let round = 0; round < 3; round++) {
    await server.ask('DEBUG', 'POPULATE', 5000, `filler-${round}`, 100)
    await server.ask('CONFIG', 'SET', 'maxmemory', '1500000')
    await server.ask('SET', `one-more-${round}`, 'x')
    await server.ask('CONFIG', 'SET', 'maxmemory', '0')
    await process.check()
  }
  expect(await causes()).toEqual(['evicted'])
  const [loss] = await losses()
  expect(loss?.to_at.getTime()).toBeGreaterThan(loss?.from_at.getTime() ?? Number.NaN)
})

test('markers that another process is writing are waited for, and taken over from one that died', async () => {
  const server = await startRedisProcess()
  const redis = await opened(server)
  const masters = [{ id: `127.0.0.1:${server.port}`, runId: 'x', evicted: 0, markerKey: 'rb:epoch:0', epoch: 'theirs' }]
  const marking = (since: number): string => JSON.stringify({ masters, goodAt: since, marking: since })
  await stateStore().write(null, marking(Date.now()), [])
  const process = observer(redis, stateStore())
  const seen = await lookAtRedis(redis, await process.account.load())
  await process.account.settle(seen, Date.now())
  expect(await server.ask('EXISTS', 'rb:epoch:0')).toBe(0)
  expect(process.account.isWhole(seen, Date.now())).toBe(false)

  await stateStore().write(await stateStore().read(), marking(Date.now() - 6000), [])
  await process.check()
  expect(await server.ask('EXISTS', 'rb:epoch:0')).toBe(1)
  expect(await losses()).toEqual([])
})

test('nothing is granted before a loss is durable: Redis is not usable while it can not be declared', async () => {
  const server = await startRedisProcess()
  const redis = await opened(server)
  const state = stateStore()
  let away = false
  const failing: RedisStateStore = {
    ...state,
    write: (...given) => (away ? Promise.reject(new Error('away')) : state.write(...given)),
  }
  const { account } = observer(redis, failing)
  const watch = startRedisWatch({
    redis,
    account,
    storeNow: Date.now,
    // A clock that stands still: no look ever gets too old.
    monotonicMs: () => 0,
    warned: () => {},
    mended: () => {},
    failed: () => {},
  })
  onTestFinished(() => watch.stop())
  await watch.looked
  expect(watch.usable()).toBe(true)
  away = true
  await server.ask('FLUSHALL')
  await vi.waitUntil(() => !watch.usable(), { timeout: 5000 })
  expect(await server.ask('EXISTS', 'rb:epoch:0')).toBe(0)
  expect(await losses()).toEqual([])
  away = false
  await vi.waitUntil(() => watch.usable(), { timeout: 5000 })
  expect(await causes()).toEqual(['flushed'])
})
