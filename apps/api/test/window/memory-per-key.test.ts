import { randomUUID } from 'node:crypto'
import { completedFields, type NewRecord, recordDigest } from '@ranbook/rules'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { openRedis } from '../../src/stores/redis/open-redis.ts'
import { createWindowStore } from '../../src/stores/window/create-window-store.ts'
import { changeOf } from '../conformance/new-record.ts'
import { startRedis } from './start-redis.ts'

/** A power of two: the dictionaries of Redis are as full then as they get before they grow. */
const keys = 65_536
const batch = 512
const bytesMax = 240

test(`a settled key without a result takes at most ${bytesMax} bytes of Redis, all it keeps about it included`, async () => {
  const server = await startRedis()
  onTestFinished(server.stop)
  const redis = await openRedis({ url: server.url, failed: () => undefined })
  onTestFinished(redis.close)
  const client = new Redis({ port: server.ports[0] ?? 0 })
  onTestFinished(async () => client.disconnect())
  const used = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])

  const store = createWindowStore(redis.cells, 'redis')
  const before = await used()
  for (let from = 0; from < keys; from += batch) {
    const records = Array.from({ length: batch }, (_, at) =>
      windowRecord(`evt_1QxYz${String(from + at).padStart(7, '0')}`),
    )
    const outcomes = await store.insertIfAbsent(records)
    await store.compareAndSet(outcomes.map(({ record, now }) => changeOf(record, completedFields(null, now + 40))))
  }
  const perKey = ((await used()) - before) / keys
  process.stdout.write(`${perKey.toFixed(0)} bytes per settled key\n`)
  expect(await client.dbsize()).toBe(keys)
  expect(perKey).toBeLessThanOrEqual(bytesMax)
})

function windowRecord(key: string): NewRecord {
  const [consumer, name] = ['billing-worker', 'page.viewed1']
  return {
    request: {
      digest: recordDigest(consumer, name, key),
      ...{ class: name, consumer, key, claimToken: randomUUID(), owner: null, leaseMs: null },
      fingerprint: { kind: 'computed', value: `sha256:${randomUUID().replaceAll('-', '').repeat(2)}` },
      details: { payload: null, refs: null, source: null, seq: null, occurredAt: null },
    },
    ...{ leaseMs: 60_000, onLeaseExpiry: 'retry' },
    window: { place: 'redis', ms: 86_400_000, degraded: false },
  }
}
