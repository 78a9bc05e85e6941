import {
  createMemoryStore,
  type LedgerRecord,
  type MemoryStore,
  type NewRecord,
  recordDigest,
  StoreError,
} from '@ranbook/rules'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSweeper } from '../../src/jobs/sweeper.ts'

let now = 1_000_000

function expiredClaims(count: number, onLeaseExpiry: NewRecord['onLeaseExpiry']): Promise<MemoryStore> {
  const store = createMemoryStore({ now: () => now })
  const records = Array.from({ length: count }, (_, at): NewRecord => {
    const key = `k${at}`
    return {
      request: {
        digest: recordDigest('worker', 'invoice.paid', key),
        consumer: 'worker',
        class: 'invoice.paid',
        key,
        claimToken: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
        owner: null,
        leaseMs: null,
        fingerprint: null,
        details: { payload: null, refs: null, source: null, seq: null, occurredAt: null },
      },
      leaseMs: 1000,
      onLeaseExpiry,
      window: null,
    }
  })
  return store.insertIfAbsent(records).then(() => {
    now += 1001
    return store
  })
}

function sweep(store: Parameters<typeof startSweeper>[0]['store']): { noticed: LedgerRecord[]; failures: unknown[] } {
  const noticed: LedgerRecord[] = []
  const failures: unknown[] = []
  const job = startSweeper({
    store,
    observer: { expired: (record) => noticed.push(record) },
    everyMs: 1,
    failed: (error) => failures.push(error),
  })
  onTestFinished(() => job.stop())
  return { noticed, failures }
}

test('several sweepers on one ledger notice each expired lease once in all', async () => {
  const store = await expiredClaims(500, 'retry')
  const sweepers = [sweep(store), sweep(store), sweep(store)]
  const all = (): string[] => sweepers.flatMap(({ noticed }) => noticed.map(({ digest }) => digest))
  await vi.waitUntil(() => all().length >= 500)
  await vi.waitUntil(async () => (await store.findExpired(1)).length === 0)
  expect(new Set(all()).size).toBe(500)
  expect(all()).toHaveLength(500)
})

test('an expired claim under hold is written as held, under retry it stays claimed', async () => {
  for (const [rule, state] of [
    ['hold', 'held'],
    ['retry', 'claimed'],
  ] as const) {
    const store = await expiredClaims(1, rule)
    const { noticed } = sweep(store)
    await vi.waitUntil(() => noticed.length === 1)
    const [found] = await store.read([{ digest: noticed[0]?.digest ?? '', claimToken: null }])
    expect(found?.record.state).toBe(state)
  }
})

test('a live lease is left alone', async () => {
  const store = await expiredClaims(1, 'hold')
  now -= 1001
  let looked = 0
  const { noticed } = sweep({
    findExpired: (limit) => {
      looked++
      return store.findExpired(limit)
    },
    compareAndSet: (changes) => store.compareAndSet(changes),
  })
  await vi.waitUntil(() => looked >= 3)
  expect(noticed).toEqual([])
})

test('a sweep that fails is reported and the next one goes on', async () => {
  const store = await expiredClaims(1, 'retry')
  let calls = 0
  const { noticed, failures } = sweep({
    findExpired: (limit) => {
      if (calls++ === 0) throw new StoreError('store_unavailable', 'gone')
      return store.findExpired(limit)
    },
    compareAndSet: (changes) => store.compareAndSet(changes),
  })
  await vi.waitUntil(() => noticed.length === 1)
  expect(failures).toEqual([expect.any(StoreError)])
})

test('after stop has resolved nothing is swept any more', async () => {
  const store = await expiredClaims(1000, 'retry')
  const noticed: LedgerRecord[] = []
  const job = startSweeper({
    store,
    observer: { expired: (record) => noticed.push(record) },
    everyMs: 1,
    failed: () => {},
  })
  await job.stop()
  const swept = noticed.length
  await new Promise((resolve) => setImmediate(resolve))
  expect(noticed).toHaveLength(swept)
  expect(swept).toBeLessThan(1000)
})
