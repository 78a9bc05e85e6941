import { expect, test, vi } from 'vitest'
import { startRedisProcess } from '../redis-watch/redis-process.ts'
import { startSentinel } from '../redis-watch/start-sentinel.ts'
import { startWindowService } from './start-window-service.ts'
import { secondGrants, undeclared, windowLoad } from './window-load.ts'

const keys = Array.from({ length: 1500 }, (_, at) => `failover:${at}`)

test.each([
  { replica: 'has the data', loses: false, cause: 'failed_over' },
  { replica: 'has none of them', loses: true, cause: 'replaced' },
])(
  'a sentinel promotes a replica that $replica while windows are claimed: the span is declared, and every second grant lies in it',
  async ({ loses, cause }) => {
    const master = await startRedisProcess(['--repl-diskless-sync-delay', '0'])
    const replica = await startRedisProcess(['--replicaof', `127.0.0.1 ${master.port}`])
    await vi.waitUntil(async () => String(await replica.ask('INFO', 'replication')).includes('master_link_status:up'), {
      timeout: 10_000,
      interval: 20,
    })
    const { url } = await startSentinel(master.port)
    const service = await startWindowService(url)
    await vi.waitUntil(service.redisOk, { timeout: 5000 })

    const load = await windowLoad(service.server.url, keys, 'apart', async () => {
      if (loses) {
        await replica.ask('CONFIG', 'SET', 'replica-read-only', 'no')
        await replica.ask('FLUSHALL')
      }
      await master.kill()
    })
    expect(String(await replica.ask('INFO', 'replication'))).toContain('role:master')
    await vi.waitUntil(service.redisOk, { timeout: 5000 })
    const spans = await service.spans()
    expect(spans.map((span) => span.cause)).toEqual([cause])
    if (loses) expect(secondGrants(load.grants).length).toBeGreaterThan(0)
    expect(undeclared(load.grants, spans)).toEqual([])
    await service.stop()
  },
)
