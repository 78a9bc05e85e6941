import { expect, test, vi } from 'vitest'
import { type RedisProcess, startRedisProcess } from '../redis-watch/redis-process.ts'
import { startWindowService } from './start-window-service.ts'
import { secondGrants, undeclared, type WindowLoad, windowLoad } from './window-load.ts'

/** More for a release: WINDOW_CLAIMS=200000. Each key is claimed three times. */
const claims = Number(process.env['WINDOW_CLAIMS'] ?? 30_000)
const claimsBeside = Math.round(claims / 3)

function keys(prefix: string, ofClaims: number): string[] {
  return Array.from({ length: Math.ceil(ofClaims / 3) }, (_, at) => `${prefix}:${at}`)
}

function tell(what: string, { claims: made, grants, tookMs, refused }: WindowLoad, spans: number): void {
  const rate = Math.round((made * 1000) / tookMs)
  process.stdout.write(
    `${what}: ${made} claims in ${Math.round(tookMs)} ms (${rate} per s), ${grants.length} grants, ` +
      `${secondGrants(grants).length} of them second ones, ${refused} items refused and repeated, ${spans} spans\n`,
  )
}

test(
  `${claims} window claims from 10 clients, each key three times: none is granted twice inside its window`,
  async () => {
    const redis = await startRedisProcess()
    const service = await startWindowService(redis.url)
    await vi.waitUntil(service.redisOk, { timeout: 5000 })
    const load = await windowLoad(service.server.url, keys('together', claims), 'together')
    const spans = await service.spans()
    tell('no fault', load, spans.length)
    expect(secondGrants(load.grants)).toEqual([])
    expect(load.grants).toHaveLength(Math.ceil(claims / 3))
    expect(spans).toEqual([])
    await service.stop()
  },
  60_000 + claims,
)

test.each<[cause: string, workers: number, (redis: RedisProcess) => Promise<unknown>]>([
  ['flushed', 2, (redis) => redis.ask('FLUSHALL')],
  [
    'evicted',
    1,
    async (redis) => {
      const used = Number(/used_memory:(\d+)/.exec(String(await redis.ask('INFO', 'memory')))?.[1])
      await redis.ask('CONFIG', 'SET', 'maxmemory', Math.round(used * 0.8), 'maxmemory-policy', 'allkeys-lru')
      await vi.waitUntil(
        async () => Number(/evicted_keys:(\d+)/.exec(String(await redis.ask('INFO', 'stats')))?.[1]) > 0,
      )
      await redis.ask('CONFIG', 'SET', 'maxmemory', 0, 'maxmemory-policy', 'noeviction')
    },
  ],
  [
    'empty',
    1,
    async (redis) => {
      await redis.kill()
      await redis.wipe()
      await redis.start()
    },
  ],
])(
  `${claimsBeside} window claims while Redis is %s, served by %i processes: every second grant lies inside a declared window_lost span`,
  async (cause, workers, lose) => {
    const redis = await startRedisProcess()
    const service = await startWindowService(redis.url, { RANBOOK_WORKERS: String(workers) })
    await vi.waitUntil(service.redisOk, { timeout: 5000 })
    const load = await windowLoad(
      service.server.url,
      keys(cause, claimsBeside),
      'apart',
      async () => void (await lose(redis)),
    )
    await vi.waitUntil(service.redisOk, { timeout: 5000 })
    const spans = await service.spans()
    tell(cause, load, spans.length)
    // A fault that took nothing would show nothing.
    expect(secondGrants(load.grants).length).toBeGreaterThan(0)
    expect(undeclared(load.grants, spans)).toEqual([])
    expect(undeclared(load.grants, []).length).toBe(secondGrants(load.grants).length)
    expect(new Set(spans.map((span) => span.cause))).toEqual(new Set([cause]))
    expect(spans.every((span) => span.class === null)).toBe(true)
    await service.stop()
  },
  60_000 + claims,
)
