import { type StatsView, statsSchema } from '@ranbook/contract'
import { runTimeBucket } from '@ranbook/rules'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { startStatsKeeper } from '../../src/jobs/stats-keeper.ts'
import { startStatsTally } from '../../src/jobs/stats-tally.ts'
import { createMismatchStore } from '../../src/stores/postgres/mismatch-store.ts'
import { createStatsStore } from '../../src/stores/postgres/stats-store.ts'
import { coldApp } from '../cold/cold-app.ts'
import { expectProblem } from '../http/expect-problem.ts'
import { countIn } from './count-in.ts'

const app = await coldApp()
const { request, claim, mint, sql } = app

const minute = 60_000
const day = 86_400_000

async function stats(parameters: Record<string, string>, key?: string): Promise<StatsView> {
  const answer = await request('GET', `/v1/stats?${new URLSearchParams(parameters)}`, key === undefined ? {} : { key })
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
  return statsSchema.parse(answer.json)
}

const fault = async (parameters: Record<string, string>) => {
  const problem = expectProblem(await request('GET', `/v1/stats?${new URLSearchParams(parameters)}`), 'invalid_request')
  return problem.errors?.map(({ path }) => path)
}

const text = (ms: number) => new Date(ms).toISOString()

/** Writes what another process counted. */
async function counted(
  className: string,
  at: number,
  counts: Partial<Record<string, number>>,
  runTimes: number[] = [],
) {
  const buckets: number[] = []
  for (const ms of runTimes) {
    const bucket = runTimeBucket(ms)
    while (buckets.length <= bucket) buckets.push(0)
    buckets[bucket] = (buckets[bucket] ?? 0) + 1
  }
  const none = { claims: 0, duplicates: 0, completed: 0, failed: 0, expired: 0, held: 0, mismatches: 0 }
  const cell = { class: className, minute: at, counts: { ...none, ...counts, runTimes: buckets } }
  await createStatsStore(app.cold).add([cell])
}

test('what happens to claims is counted by class once it was flushed', async () => {
  const drain = countIn(app)
  await request('PUT', '/v1/classes/counted', { body: { max_attempts: 2 } })
  const first = await claim({ class: 'counted', consumer: 'a', key: '1', payload: { n: 1 } })
  await claim({ class: 'counted', consumer: 'a', key: '1', payload: { n: 2 } })
  await request('POST', `/v1/claims/${first.id}/complete`, { body: { claim_token: first.claim_token } })
  await claim({ class: 'counted', consumer: 'a', key: '1' })
  await claim({ class: 'counted', consumer: 'a', key: '1' })
  const second = await claim({ class: 'counted', consumer: 'b', key: '2' })
  const error = { message: 'no' }
  await request('POST', `/v1/claims/${second.id}/fail`, { body: { claim_token: second.claim_token, error } })
  const third = await claim({ class: 'counted', consumer: 'a', key: '3' })
  await app.expire(third.id)
  expect((await claim({ class: 'counted', consumer: 'a', key: '3' })).attempt).toBe(2)
  await app.expire(third.id)
  expect((await claim({ class: 'counted', consumer: 'a', key: '3' })).outcome).toBe('dead')
  await drain()

  const { data } = await stats({ class: 'counted' })
  const sum = (name: 'claims' | 'duplicates' | 'completed' | 'failed' | 'expired' | 'held' | 'mismatches') =>
    data.reduce((total, step) => total + step[name], 0)
  expect(data).toHaveLength(25)
  expect(sum('claims')).toBe(4)
  expect(sum('duplicates')).toBe(2)
  expect(sum('completed')).toBe(1)
  expect(sum('failed')).toBe(1)
  expect(sum('expired')).toBe(2)
  expect(sum('held')).toBe(0)
  expect(sum('mismatches')).toBe(1)
  expect(data.filter(({ run_ms }) => run_ms !== null)).toHaveLength(1)
})

describe('steps', () => {
  const at = Date.parse('2026-03-01T00:00:00.000Z')

  beforeAll(async () => {
    await counted('a.one', at, { claims: 1, completed: 100 }, [...Array(94).fill(3), ...Array(5).fill(100), 5000])
    await counted('a.one', at + 59 * minute, { claims: 2 })
    await counted('a.two', at + minute, { duplicates: 5 })
    await counted('b', at + minute, { claims: 7, mismatches: 1 })
    await counted('a.one', at + day, { claims: 1 })
  })

  test('are given with none left out, each with the sum of its minutes, and quantiles of what completed', async () => {
    const span = { from: text(at), to: text(at + 3 * 3_600_000) }
    const { data, step_ms } = await stats({ ...span, class: 'a.one' })
    expect(step_ms).toBe(3_600_000)
    expect(data.map((step) => [step.at, step.claims, step.completed])).toEqual([
      [text(at), 3, 100],
      [text(at + 3_600_000), 0, 0],
      [text(at + 7_200_000), 0, 0],
    ])
    // Each within its own power of two: 3 in [2, 4), 100 in [64, 128).
    expect(data[0]?.run_ms).toEqual({ p50: 3, p95: expect.any(Number), p99: 128 })
    expect(data[0]?.run_ms?.p95).toBeGreaterThanOrEqual(64)
    expect(data[1]?.run_ms).toBeNull()
  })

  test('begin at whole multiples of their length, whatever the span asked', async () => {
    const { data } = await stats({ from: text(at + 1), to: text(at + day + 1), step: String(day), class: 'a.one' })
    expect(data.map((step) => [step.at, step.claims])).toEqual([
      [text(at), 3],
      [text(at + day), 1],
    ])
  })

  test('end before the time asked', async () => {
    const { data } = await stats({ from: text(at), to: text(at + minute), step: String(minute) })
    expect(data).toHaveLength(1)
  })

  test('sum over every class that the caller may read, and hide the others as if there were none', async () => {
    const span = { from: text(at), to: text(at + 3_600_000) }
    const claims = async (parameters: Record<string, string>, key?: string) => {
      const [step] = (await stats({ ...span, ...parameters }, key)).data
      return [step?.claims, step?.duplicates, step?.mismatches]
    }
    const some = await mint({ actions: ['read'], classes: ['a.*'] })
    expect(await claims({})).toEqual([10, 5, 1])
    expect(await claims({}, some)).toEqual([3, 5, 0])
    expect(await claims({ class: 'a.two' }, some)).toEqual([0, 5, 0])
    expect(await claims({ class: 'b' }, some)).toEqual([0, 0, 0])
    expect(await claims({ class: 'a_one' })).toEqual([0, 0, 0])
    expect(await claims({ class: 'never' })).toEqual([0, 0, 0])
  })
})

test('a caller of one consumer is told that counts are over every consumer', async () => {
  const key = await mint({ actions: ['read'], consumer: 'a' })
  const problem = expectProblem(await request('GET', '/v1/stats', { key }), 'forbidden')
  expect(problem.detail).toContain('bound to one consumer')
})

test('a caller without the action read may not ask', async () => {
  const key = await mint({ actions: ['claim', 'operate', 'admin'] })
  expectProblem(await request('GET', '/v1/stats', { key }), 'forbidden')
})

test.each([
  [{ step: '1000' }, ['step']],
  [{ step: '0' }, ['step']],
  [{ step: '-60000' }, ['step']],
  [{ step: '60000.5' }, ['step']],
  [{ step: '99999999999' }, ['step']],
  [{ step: '60000', from: '2026-01-01T00:00:00.000Z' }, ['step']],
  [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, ['from']],
  [{ from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, ['from']],
  [{ from: '0000-01-01T00:00:00Z', to: '0000-01-02T00:00:00Z' }, ['from']],
  [{ from: 'yesterday' }, ['from']],
  [{ class: 'a.*' }, ['class']],
  [{ consumer: 'a' }, ['consumer']],
])('a question that can’t be answered is refused by the parameter at fault: %j', async (parameters, paths) => {
  expect(await fault(parameters)).toEqual(paths)
})

test('two thousand steps are answered, one more is not', async () => {
  const to = Date.parse('2026-02-01T00:00:00.000Z')
  const from = (steps: number) => ({ from: text(to - steps * minute), to: text(to), step: String(minute) })
  expect((await stats(from(2000))).data).toHaveLength(2000)
  expect(await fault(from(2001))).toEqual(['step'])
})

test('the counts of two processes add up, bucket by bucket, however they meet', async () => {
  const failed = (error: unknown): never => {
    throw error
  }
  const at = Date.parse('2026-04-01T00:00:00.000Z')
  const work = async (runMs: number): Promise<void> => {
    for (let round = 0; round < 10; round++) {
      const tally = startStatsTally({ store: createStatsStore(app.cold), lost: failed, failed })
      const record = await anyRecord()
      for (let name = 0; name < 50; name++) {
        const own = { ...record, class: `both.${name}`, claimedAt: at, endedAt: at + runMs }
        tally.claimed(own)
        tally.settled('complete', own)
      }
      await tally.stop()
    }
  }
  await Promise.all([work(1), work(1000)])
  const span = { from: text(at), to: text(at + minute), step: String(minute) }
  const both = (await stats({ ...span, class: 'both.7' })).data[0]
  expect(both).toMatchObject({ claims: 20, completed: 20, run_ms: { p50: 2 } })
  expect(both?.run_ms?.p95).toBeGreaterThanOrEqual(512)
  expect((await stats(span)).data[0]).toMatchObject({ claims: 1000, completed: 1000 })
})

test('minutes and mismatches older than 30 days are forgotten, younger ones stay', async () => {
  await sql`INSERT INTO class_stat (minute, class, claims, run_times)
    SELECT date_trunc('minute', now()) - interval '30 days 1 minute' - n * interval '1 second', 'old', 1, '{}' FROM generate_series(1, 2500) n`
  await sql`INSERT INTO class_stat (minute, class, claims, run_times) VALUES (now() - interval '29 days', 'young', 1, '{}')`
  await sql`INSERT INTO mismatch_tally VALUES
    ('rec_old', 'c', 'x', 'k', 1, now() - interval '40 days', now() - interval '31 days'),
    ('rec_young', 'c', 'x', 'k', 2, now() - interval '40 days', now() - interval '29 days')`
  const left = async () => ({
    old: (await sql`SELECT FROM class_stat WHERE class = 'old'`).count,
    young: (await sql`SELECT FROM class_stat WHERE class = 'young'`).count,
    mismatches: (
      await sql`SELECT record_id FROM mismatch_tally WHERE record_id LIKE 'rec\\_%g' OR record_id = 'rec_old'`
    ).map((row) => row['record_id']),
  })
  const keepers = [1, 2].map(() =>
    startStatsKeeper({
      stats: createStatsStore(app.cold),
      mismatches: createMismatchStore(app.cold),
      failed: (error) => {
        throw error
      },
    }),
  )
  await vi.waitUntil(async () => (await left()).mismatches.length === 1, { timeout: 20_000 })
  await Promise.all(keepers.map((keeper) => keeper.stop()))
  expect(await left()).toEqual({ old: 0, young: 1, mismatches: ['rec_young'] })
})

async function anyRecord() {
  const { id } = await claim({ class: 'any', consumer: 'a', key: 'any' })
  const [found] = await app.deps.ledger.store.read([{ digest: id.slice(4), claimToken: null }])
  if (!found) throw new Error('the record is not there')
  return found.record
}
