import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenedStore } from '../conformance/store-under-test.ts'
import { concurrentHistory } from './concurrent-history.ts'
import { brokenPromises } from './history-invariants.ts'
import { openProductStore } from './open-product-store.ts'
import { historySeed, rerunLine } from './seeded-random.ts'

// Three seconds on two idle cores.
const operations = 5000

// A busy machine can draw it out; this only ends what hangs.
const timeout = 120_000

let opened: OpenedStore
beforeAll(async () => {
  opened = await openProductStore()
})
afterAll(() => opened.close())

test('many callers at once on Postgres see every promise kept', { timeout }, async () => {
  const seed = historySeed()
  const { store, clockPasses } = opened
  const monotonicMs = (): number => performance.now()
  const name = 'concurrent'
  const entries = await concurrentHistory({ store, clockPasses, monotonicMs, seed, name, callers: 12, operations })
  expect(entries.length).toBeGreaterThan(operations / 2)
  expect(brokenPromises(entries), rerunLine(seed, 'oracle/concurrent.test.ts')).toEqual([])
})
