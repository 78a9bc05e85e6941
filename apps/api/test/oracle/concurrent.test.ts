import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenedStore } from '../conformance/store-under-test.ts'
import { openStore } from '../postgres/open-store.ts'
import { concurrentHistory } from './concurrent-history.ts'
import { brokenPromises } from './history-invariants.ts'
import { historySeed, rerunLine } from './seeded-random.ts'

// Some ten seconds on two busy cores.
const operations = 6000

let opened: OpenedStore
beforeAll(async () => {
  opened = await openStore(({ postgres }) => postgres.records)
})
afterAll(() => opened.close())

test('many callers at once on Postgres see every promise kept', async () => {
  const seed = historySeed()
  const { store, clockPasses } = opened
  const monotonicMs = (): number => performance.now()
  const name = 'concurrent'
  const entries = await concurrentHistory({ store, clockPasses, monotonicMs, seed, name, callers: 12, operations })
  expect(entries.length).toBeGreaterThan(operations / 2)
  expect(brokenPromises(entries), rerunLine(seed, 'oracle/concurrent.test.ts')).toEqual([])
})
