import { type ClassMinute, type LedgerRecord, StoreError } from '@ranbook/rules'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type StatsTally, startStatsTally } from '../../src/jobs/stats-tally.ts'

const minute = 60_000

function tally(add: (minutes: readonly ClassMinute[]) => Promise<void>): {
  stats: StatsTally
  failures: unknown[]
  lost: () => number
} {
  const failures: unknown[] = []
  let lost = 0
  const stats = startStatsTally({
    store: { add },
    lost: (events) => {
      lost += events
    },
    failed: (error) => failures.push(error),
  })
  onTestFinished(() => stats.stop())
  return { stats, failures, lost: () => lost }
}

function record(fields: Partial<LedgerRecord>): LedgerRecord {
  return {
    digest: '0'.repeat(32),
    version: 1,
    class: 'mail.sent',
    consumer: 'mailer',
    key: 'k',
    state: 'claimed',
    cause: null,
    generation: 1,
    attempt: 1,
    claimToken: '00000000-0000-4000-8000-000000000000',
    fencingToken: 1,
    owner: null,
    leaseMs: 60_000,
    onLeaseExpiry: 'retry',
    leaseExpiresAt: null,
    sweepAt: null,
    firstClaimedAt: 0,
    claimedAt: 0,
    endedAt: null,
    availableAt: null,
    fingerprint: null,
    result: null,
    error: null,
    detailsErasedAt: null,
    window: null,
    replay: null,
    ...fields,
  }
}

test('events are counted under their class and the minute in which they happened by the clock of their store', async () => {
  const stored: ClassMinute[] = []
  const { stats } = tally(async (minutes) => void stored.push(...minutes))
  stats.claimed(record({ claimedAt: minute - 1 }))
  stats.claimed(record({ claimedAt: minute }))
  stats.claimed(record({ claimedAt: minute, class: 'other' }))
  stats.settled('complete', record({ state: 'completed', claimedAt: minute - 1, endedAt: minute + 4 }))
  stats.settled('fail', record({ state: 'failed', endedAt: minute + 4 }))
  stats.settled('extend', record({}))
  stats.settled('resolve_completed', record({ state: 'completed', endedAt: minute }))
  stats.answered('duplicate', record({}), 2 * minute - 1)
  stats.answered('mismatch', record({}), minute)
  stats.answered('in_progress', record({}), minute)
  stats.expired(record({ leaseExpiresAt: minute + 1, state: 'held' }))
  stats.expired(record({ leaseExpiresAt: minute + 2 }))
  await stats.stop()

  const found = stored.map(({ class: name, minute: at, counts }) => {
    const { runTimes, ...others } = counts
    return {
      class: name,
      at,
      ...others,
      runTimes: runTimes.flatMap((count, bucket) => (count > 0 ? [[bucket, count]] : [])),
    }
  })
  const none = { claims: 0, duplicates: 0, completed: 0, failed: 0, expired: 0, held: 0, mismatches: 0, runTimes: [] }
  expect(found).toEqual([
    { ...none, class: 'mail.sent', at: 0, claims: 1 },
    {
      class: 'mail.sent',
      at: minute,
      claims: 1,
      duplicates: 1,
      completed: 1,
      failed: 1,
      expired: 2,
      held: 1,
      mismatches: 1,
      // 5 ms: the bucket from 4 up to 8.
      runTimes: [[3, 1]],
    },
    { ...none, class: 'other', at: minute, claims: 1 },
  ])
})

test('counts are stored without waiting for a drain, and counting goes on from nothing', async () => {
  const stored: ClassMinute[] = []
  const { stats } = tally(async (minutes) => void stored.push(...minutes))
  stats.claimed(record({}))
  await vi.waitUntil(() => stored.length === 1, { timeout: 20_000 })
  stats.claimed(record({}))
  await stats.stop()
  expect(stored.map(({ counts }) => counts.claims)).toEqual([1, 1])
})

test('a write whose outcome is unknown is never repeated, so the counts stay a lower bound', async () => {
  const tried: number[] = []
  const { stats, failures, lost } = tally(async (minutes) => {
    tried.push(minutes.reduce((sum, { counts }) => sum + counts.claims, 0))
    if (tried.length === 1) throw new StoreError('store_unavailable', 'cut')
  })
  stats.claimed(record({}))
  stats.claimed(record({}))
  await stats.stop()
  expect(failures).toHaveLength(1)
  stats.claimed(record({}))
  await stats.stop()
  expect(tried).toEqual([2, 1])
  expect(lost()).toBe(2)
})

test('counts of a class and minute that were refused untried are added to what came since', async () => {
  const tried: number[] = []
  const { stats, failures, lost } = tally(async (minutes) => {
    tried.push(minutes.reduce((sum, { counts }) => sum + counts.claims, 0))
    if (tried.length === 1) throw new StoreError('overloaded', 'no room')
  })
  stats.claimed(record({}))
  await stats.stop()
  expect(failures).toHaveLength(1)
  stats.claimed(record({}))
  await stats.stop()
  expect(tried).toEqual([1, 2])
  expect(lost()).toBe(0)
})

test('classes beyond what memory is set aside for are counted as lost, known ones go on', async () => {
  const stored: ClassMinute[] = []
  const { stats, lost } = tally(async (minutes) => void stored.push(...minutes))
  for (let at = 0; at < 20_003; at++) stats.claimed(record({ class: `c${at}` }))
  stats.claimed(record({ class: 'c0' }))
  await stats.stop()
  expect(lost()).toBe(3)
  expect(stored).toHaveLength(20_000)
  expect(stored.find(({ class: name }) => name === 'c0')?.counts.claims).toBe(2)
})
