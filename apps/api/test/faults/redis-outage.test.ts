import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { type RedisProcess, startRedisProcess } from '../redis-watch/redis-process.ts'
import { type Answer, startWindowService, type WindowService } from './start-window-service.ts'

/** Within seconds of its return. */
const backWithin = { timeout: 5000, interval: 20 }

async function startAll(settings: readonly string[] = []): Promise<{ redis: RedisProcess; service: WindowService }> {
  const redis = await startRedisProcess(settings)
  const service = await startWindowService(redis.url)
  await vi.waitUntil(service.redisOk, { timeout: 5000 })
  return { redis, service }
}

async function timed(ask: () => Promise<Answer>): Promise<Answer & { tookMs: number }> {
  const startedAt = performance.now()
  return { ...(await ask()), tookMs: performance.now() - startedAt }
}

const unavailable = { status: 503, body: { code: 'window_unavailable' } }

test.each<[string, (redis: RedisProcess) => unknown, (redis: RedisProcess) => unknown]>([
  ['is killed with -9', (redis) => redis.kill(), (redis) => redis.start()],
  ['hangs', (redis) => redis.signal('SIGSTOP'), (redis) => redis.signal('SIGCONT')],
])(
  'while Redis %s, `refuse` answers 503 within 2 s, the ledger goes on, and all is back within seconds of its return',
  async (_, end, mend) => {
    const { redis, service } = await startAll()
    const { claim, complete } = service
    const token = randomUUID()
    const { body: known } = await claim('cache.refuse', 'known', token)
    expect(known).toMatchObject({ outcome: 'claimed', degraded: false })

    await end(redis)
    const first = await timed(() => claim('cache.refuse', 'first'))
    await vi.waitUntil(async () => !(await service.redisOk()), { timeout: 5000 })
    const later = await timed(() => claim('cache.refuse', 'later'))
    const settled = await timed(() => complete(known['id'], token))
    for (const answer of [first, later, settled]) {
      expect(answer).toMatchObject(unavailable)
      expect(answer.tookMs).toBeLessThan(2000)
    }
    expect(await claim('ledger.class', 'goes-on')).toMatchObject({ status: 201 })

    await mend(redis)
    await vi.waitUntil(async () => (await claim('cache.refuse', 'back')).status !== 503, backWithin)
    expect(await claim('cache.refuse', 'known')).toMatchObject({ status: 409, body: { outcome: 'in_progress' } })
    expect(await complete(known['id'], token)).toMatchObject({ status: 200 })
    await service.stop()
  },
)

test('while Redis is away `fall_back` grants in Postgres and says so, and those keys stay remembered after its return', async () => {
  const { redis, service } = await startAll()
  const { claim, complete } = service
  const token = randomUUID()
  const { body: held } = await claim('cache.fall_back', 'in-redis', token)
  expect(held).toMatchObject({ outcome: 'claimed', degraded: false })

  await redis.kill()
  const degradedToken = randomUUID()
  const invokedAt = Date.now()
  let granted: Answer = { status: 0, body: {} }
  await vi.waitUntil(
    async () => {
      granted = await claim('cache.fall_back', 'degraded', degradedToken)
      return granted.status !== 503
    },
    { timeout: 10_000, interval: 20 },
  )
  const answeredAt = Date.now()
  expect(granted).toMatchObject({ status: 201, body: { outcome: 'claimed', degraded: true } })
  expect(await complete(granted.body['id'], degradedToken)).toMatchObject({ status: 200 })
  expect(await claim('cache.fall_back', 'degraded')).toMatchObject({ status: 200, body: { outcome: 'duplicate' } })
  expect(await complete(held['id'], token)).toMatchObject(unavailable)
  expect(await claim('cache.refuse', 'refused')).toMatchObject(unavailable)
  const [span] = (await service.spans()).filter(({ cause }) => cause === 'outage')
  expect(span?.class).toBe('cache.fall_back')
  expect(span?.fromAt).toBeGreaterThan(invokedAt - 2000)
  expect(span?.fromAt).toBeLessThanOrEqual(answeredAt)
  expect(span?.untilAt).toBeGreaterThanOrEqual(answeredAt)

  await redis.start()
  await vi.waitUntil(service.redisOk, backWithin)
  expect(await claim('cache.fall_back', 'degraded')).toMatchObject({ status: 200, body: { outcome: 'duplicate' } })
  expect(await complete(held['id'], token)).toMatchObject({ status: 200 })
  expect(await claim('cache.fall_back', 'after')).toMatchObject({ status: 201, body: { degraded: false } })
  await service.stop()
})

test('a Redis without memory left refuses new keys, answers known ones, loses nothing, and grants again when it has some', async () => {
  const { redis, service } = await startAll()
  const { claim } = service
  expect(await claim('cache.refuse', 'known')).toMatchObject({ status: 201 })
  await redis.ask('CONFIG', 'SET', 'maxmemory', '100000')
  expect(await claim('cache.refuse', 'new')).toMatchObject({ status: 503, body: { code: 'storage_full' } })
  expect(await claim('cache.refuse', 'known')).toMatchObject({ status: 409, body: { outcome: 'in_progress' } })
  expect(await service.redisOk()).toBe(true)
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
  expect(await claim('cache.refuse', 'new')).toMatchObject({ status: 201 })
  expect(await service.spans()).toEqual([])
  await service.stop()
})

test('a maxmemory-policy that forgets keys is warned of, and with maxmemory nothing is granted there until it is mended', async () => {
  const { redis, service } = await startAll()
  const { server, claim } = service
  const warnings = async (): Promise<string[]> => {
    const { items } = (await server.call('GET', '/v1/attention')).body as {
      items: { kind: string; sentence: string }[]
    }
    return items.flatMap(({ kind, sentence }) => (kind === 'store_warning' ? [sentence] : []))
  }
  expect(await warnings()).toEqual([])
  await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  await vi.waitUntil(async () => (await warnings()).length === 1, { timeout: 5000, interval: 50 })
  expect((await warnings())[0]).toContain('allkeys-lru')
  expect(await claim('cache.refuse', 'unbounded')).toMatchObject({ status: 201 })

  await redis.ask('CONFIG', 'SET', 'maxmemory', '100mb')
  await vi.waitUntil(async () => !(await service.redisOk()), { timeout: 5000 })
  expect(await claim('cache.refuse', 'bounded')).toMatchObject(unavailable)
  expect(await claim('ledger.class', 'goes-on')).toMatchObject({ status: 201 })
  const told = server
    .stderr()
    .split('\n')
    .filter((line) => line.includes('maxmemory-policy'))
  expect(told).toHaveLength(2)

  await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  await vi.waitUntil(service.redisOk, backWithin)
  expect(await claim('cache.refuse', 'bounded')).toMatchObject({ status: 201 })
  expect(await warnings()).toEqual([])
  await service.stop()
})

test('a Redis that is not there at the start keeps no worker from starting, and is used once it is there', async () => {
  const redis = await startRedisProcess()
  await redis.kill()
  const service = await startWindowService(redis.url, { RANBOOK_WORKERS: '2' })
  expect(await service.redisOk()).toBe(false)
  expect(await service.claim('cache.refuse', 'first')).toMatchObject(unavailable)
  await redis.start()
  await vi.waitUntil(async () => (await service.claim('cache.refuse', 'first')).status === 201, backWithin)
  expect(await service.spans()).toEqual([])
  await service.stop()
})
