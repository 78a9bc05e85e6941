import { StoreError } from '@ranbook/rules'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startDuplicateTally, type TallyDeps, type TallyJob } from '../../src/jobs/duplicate-tally.ts'

type Stored = Parameters<TallyDeps['store']['addDuplicates']>[0][number]

function tally(addDuplicates: (tallies: readonly Stored[]) => Promise<void>): {
  job: TallyJob
  failures: unknown[]
  lost: () => number
} {
  const failures: unknown[] = []
  let lost = 0
  const job = startDuplicateTally({
    store: { addDuplicates },
    lost: (deliveries) => {
      lost += deliveries
    },
    failed: (error) => failures.push(error),
  })
  onTestFinished(() => job.stop())
  return { job, failures, lost: () => lost }
}

test('deliveries are added per record, with count, first and last time, without waiting for a drain', async () => {
  const stored: Stored[] = []
  const { job } = tally(async (tallies) => void stored.push(...tallies))
  job.add('a', 10)
  job.add('b', 11)
  job.add('a', 12)
  expect(stored).toEqual([])
  await vi.waitUntil(() => stored.length > 0, { timeout: 10_000 })
  expect(stored).toEqual([
    { digest: 'a', count: 2, firstAt: 10, lastAt: 12 },
    { digest: 'b', count: 1, firstAt: 11, lastAt: 11 },
  ])
})

test('a drain stores what was counted until then', async () => {
  const stored: Stored[] = []
  const { job } = tally(async (tallies) => void stored.push(...tallies))
  for (let at = 0; at < 1200; at++) job.add(`d${at}`, at)
  await job.stop()
  expect(stored).toHaveLength(1200)
})

test('a write whose outcome is unknown is never repeated, so the tally stays a lower bound', async () => {
  const tried: (readonly Stored[])[] = []
  const { job, failures, lost } = tally(async (tallies) => {
    tried.push(tallies)
    if (tried.length === 1) throw new StoreError('store_unavailable', 'cut')
  })
  job.add('a', 1)
  job.add('a', 2)
  await vi.waitUntil(() => failures.length === 1, { timeout: 10_000 })
  job.add('b', 3)
  await job.stop()
  expect(tried).toEqual([
    [{ digest: 'a', count: 2, firstAt: 1, lastAt: 2 }],
    [{ digest: 'b', count: 1, firstAt: 3, lastAt: 3 }],
  ])
  expect(lost()).toBe(2)
})

test('a write that was refused untried is repeated together with what came since', async () => {
  const tried: (readonly Stored[])[] = []
  const { job, failures, lost } = tally(async (tallies) => {
    tried.push(tallies)
    if (tried.length === 1) throw new StoreError('overloaded', 'no room')
  })
  job.add('a', 1)
  await vi.waitUntil(() => failures.length === 1, { timeout: 10_000 })
  job.add('a', 7)
  await job.stop()
  expect(tried.at(-1)).toEqual([{ digest: 'a', count: 2, firstAt: 1, lastAt: 7 }])
  expect(lost()).toBe(0)
})

test('a clock that is set back leaves first and last in order, also across a refused write', async () => {
  const tried: (readonly Stored[])[] = []
  const { job, failures } = tally(async (tallies) => {
    tried.push(tallies)
    if (tried.length === 1) throw new StoreError('overloaded', 'no room')
  })
  job.add('a', 50)
  job.add('a', 40)
  job.add('b', 90)
  await vi.waitUntil(() => failures.length === 1, { timeout: 10_000 })
  job.add('a', 10)
  job.add('b', 100)
  await job.stop()
  expect(tried[0]?.[0]).toEqual({ digest: 'a', count: 2, firstAt: 40, lastAt: 50 })
  expect(tried.at(-1)).toEqual([
    { digest: 'a', count: 3, firstAt: 10, lastAt: 50 },
    { digest: 'b', count: 2, firstAt: 90, lastAt: 100 },
  ])
})

test('keys beyond what memory is set aside for are counted as lost, known ones go on', async () => {
  const stored: Stored[] = []
  const { job, lost } = tally(async (tallies) => void stored.push(...tallies))
  for (let at = 0; at < 100_003; at++) job.add(`d${at}`, at)
  job.add('d0', 200_000)
  await job.stop()
  expect(lost()).toBe(3)
  expect(stored.find(({ digest }) => digest === 'd0')).toEqual({ digest: 'd0', count: 2, firstAt: 0, lastAt: 200_000 })
})
