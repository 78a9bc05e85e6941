import { createMemoryStore, type RecordStore } from '@ranbook/rules'
import { expect, test } from 'vitest'
import { concurrentHistory } from './concurrent-history.ts'
import { faults } from './faulty-stores.ts'
import { brokenPromises } from './history-invariants.ts'

test('the checker finds nothing in a history of a sound store', async () => {
  const entries = await pausingHistory(() => ({}))
  expect(entries.length).toBeGreaterThan(4000)
  expect(brokenPromises(entries)).toEqual([])
})

test.each(Object.entries(faults))('the checker sees %s', async (_, { breaks, spoil }) => {
  const broken = brokenPromises(await pausingHistory(spoil))
  expect(broken.filter((sentence) => breaks.test(sentence))).not.toEqual([])
})

/**
 * A history on a memory store whose every call pauses before it runs, so that callers interleave as they do around a
 * real one; callers and store share a clock that only calls move, so that a seed always brings the same history.
 */
function pausingHistory(spoil: (store: RecordStore) => Partial<RecordStore>) {
  let now = Date.UTC(2026, 10, 30, 10)
  const memory = createMemoryStore({ now: () => now })
  const paused =
    <Arguments extends unknown[], Answer>(call: (...asked: Arguments) => Promise<Answer>) =>
    async (...asked: Arguments): Promise<Answer> => {
      await new Promise<void>((resume) => setImmediate(resume))
      now += 0.1
      return call(...asked)
    }
  const store = {
    ...memory,
    insertIfAbsent: paused(memory.insertIfAbsent),
    read: paused(memory.read),
    compareAndSet: paused(memory.compareAndSet),
    completeClaimed: paused(memory.completeClaimed),
  }
  return concurrentHistory({
    store: { ...store, ...spoil(store) },
    clockPasses: async (time) => {
      now = Math.max(now, time + 1)
    },
    monotonicMs: () => now,
    seed: 20261130,
    name: 'faults',
    callers: 8,
    operations: 8000,
  })
}
