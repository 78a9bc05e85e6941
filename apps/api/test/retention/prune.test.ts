import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createRetentionStore } from '../../src/stores/postgres/retention-store.ts'
import type { ColdJson } from '../cold/cold-app.ts'
import { dayMs, digestOf, retentionApp } from './retention-app.ts'

const app = await retentionApp(async (sql) => {
  await sql`UPDATE setting SET value = to_json(now() - interval '30 days') WHERE name = 'ledger_began_at'`
})
const { put, take: claim, settle, age, run, stored } = app
const short = { details_retention_ms: dayMs, key_retention_ms: 10 * dayMs }

/** A record in each state it can rest in. */
const situations: Record<string, (name: string, key: string) => Promise<ColdJson>> = {
  completed: async (name, key) => {
    const record = await claim(name, key)
    await settle(record, 'complete', { result: { ok: true } })
    return record
  },
  dead: async (name, key) => {
    const record = await claim(name, key)
    await settle(record, 'fail', { error: { message: 'no' }, retryable: false })
    return record
  },
  skipped: async (name, key) => {
    const record = await claim(name, key)
    await app.request('POST', `/v1/records/${record.id}/resolve`, {
      body: { decision: 'skipped', reason: 'not wanted', end_live_claim: true },
    })
    return record
  },
  claimed: (name, key) => claim(name, key),
  'claimed, its lease over': async (name, key) => {
    const record = await claim(name, key)
    await app.expire(record.id)
    return record
  },
  failed: async (name, key) => {
    const record = await claim(name, key)
    await settle(record, 'fail', { error: { message: 'no' } })
    return record
  },
  ready: async (name, key) => {
    const record = await claim(name, key)
    await settle(record, 'release')
    return record
  },
}
const settled = ['completed', 'dead', 'skipped']

describe.each(Object.keys(situations))('a record that is %s', (situation) => {
  const name = `of.${situation.replaceAll(/\W/g, '-')}`
  const make = (key: string) => (situations[situation] as (typeof situations)[string])(name, key)

  test('loses its details when they are due, and only where it is settled', async () => {
    await put(name, short)
    const [young, due] = [await make('young'), await make('due')]
    await age(due.id, 2)
    const before = await stored(due.id)
    await run()
    expect(await stored(young.id)).toMatchObject({ details_erased_at: null, payload: { n: 1 } })
    const after = await stored(due.id)
    if (!settled.includes(situation)) {
      expect(after).toEqual(before)
      return
    }
    expect(after).toEqual({
      ...before,
      version: before?.['version'] + 1,
      details_erased_at: expect.any(Date),
      ...{ payload: null, result: null, error: null, owner: null },
    })
  })

  test('is forgotten when its key is due, and only where it is settled', async () => {
    const due = await make('old')
    await age(due.id, 11)
    await run()
    expect((await stored(due.id)) === undefined).toBe(settled.includes(situation))
  })
})

test('a key whose details are erased still dedupes, and says so', async () => {
  await put('dedupes', { details_retention_ms: dayMs })
  const token = randomUUID()
  const record = await claim('dedupes', 'a', { claim_token: token })
  await settle(record, 'complete', { result: { ok: true } })
  await age(record.id, 2)
  await run()
  const again = await claim('dedupes', 'a')
  expect(again).toMatchObject({ outcome: 'duplicate', has_result: false, result: null })
  expect(again.details_erased_at).toEqual(expect.any(String))
  expect(await claim('dedupes', 'a', { payload: { n: 2 } })).toMatchObject({ outcome: 'mismatch' })
  expect(await claim('dedupes', 'a', { claim_token: token })).toMatchObject({ outcome: 'duplicate' })
  const lookup = await app.request('GET', '/v1/lookup?q=a&class=dedupes')
  expect(lookup.json).toMatchObject({ verdict: 'ran_details_erased', records: [{ state: 'completed' }] })
  expect(lookup.text).toMatch(/erased/)
})

test('attempts and late results lose what a consumer put into them, and their tokens stay spent', async () => {
  await put('attempts', { ...short, backoff: { initial_ms: 0, factor: 1, max_ms: 0 } })
  const first = await claim('attempts', 'a')
  await settle(first, 'fail', { error: { message: 'secret' } })
  const second = await claim('attempts', 'a')
  await settle(first, 'complete', { result: 'late secret' })
  await settle(second, 'fail', { error: { message: 'secret' }, retryable: false })
  await age(first.id, 2)
  await run()
  const file = await app.request('GET', `/v1/records/${first.id}`)
  expect(file.text).not.toContain('secret')
  expect(file.text).not.toContain('billing-1')
  expect(JSON.parse(file.text).attempts).toHaveLength(2)
  await app.request('POST', `/v1/records/${first.id}/resolve`, { body: { decision: 'retry', reason: 'again' } })
  const spent = await app.request('POST', '/v1/claims', {
    body: { class: 'attempts', consumer: 'billing', key: 'a', claim_token: first.claim_token },
  })
  expect(spent.json).toMatchObject({ code: 'token_spent' })
})

test('a forgotten key is new again, with a higher fencing number, and nothing of it is left', async () => {
  await put('forgets', short)
  const record = await situations['completed']?.('forgets', 'a')
  if (!record) throw new Error('it is made')
  await app.deps.ledger.store.addDuplicates([{ digest: digestOf(record.id), count: 1, firstAt: 1, lastAt: 1 }])
  await age(record.id, 11)
  await run()
  for (const table of ['record', 'attempt', 'late_completion', 'duplicate_tally']) {
    const id = table === 'record' ? app.sql`id` : app.sql`record_id`
    expect(await app.sql`SELECT 1 FROM ${app.sql(table)} WHERE ${id} = ${digestOf(record.id)}`).toEqual([])
  }
  const again = await claim('forgets', 'a')
  expect(again).toMatchObject({ outcome: 'claimed', attempt: 1, id: record.id })
  expect(again.fencing_token).toBeGreaterThan(record.fencing_token)
})

test('the time since when keys are complete moves with what is forgotten, and never back', async () => {
  await put('moves', short)
  const completeSince = async () => {
    const [row] = await app.sql`SELECT keys_complete_since FROM class_retention WHERE class = 'moves'`
    return (row?.['keys_complete_since'] as Date | null | undefined)?.getTime() ?? null
  }
  const forget = async (key: string, days: number) => {
    const record = await situations['completed']?.('moves', key)
    if (record) await age(record.id, days)
    await run()
  }
  await forget('not yet', 9)
  expect(await completeSince()).toBeNull()
  await forget('a', 11)
  const first = (await completeSince()) ?? 0
  expect(Math.abs(Date.now() - 10 * dayMs - first)).toBeLessThan(60_000)
  await put('moves', { key_retention_ms: 20 * dayMs })
  await forget('b', 21)
  expect(await completeSince()).toBe(first)
  await app.sql`UPDATE class_seen SET first_seen_at = now() - interval '25 days' WHERE class = 'moves'`
  const lookup = await app.request('GET', '/v1/lookup?q=c&class=moves')
  expect(lookup.json).toMatchObject({ verdict: 'unknown' })
})

test('several processes prune side by side, and every due record once', async () => {
  await put('shared', { key_retention_ms: dayMs })
  await settle(await claim('shared', 'seed'), 'complete')
  await app.fill('shared', 9000)
  const other = createRetentionStore(app.cold)
  await Promise.all([run(), run(other)])
  expect(await app.sql`SELECT key FROM record WHERE class = 'shared'`).toEqual([{ key: 'seed' }])
  const [row] = await app.sql`SELECT forgotten::int, ran_at FROM class_retention WHERE class = 'shared'`
  expect(row).toEqual({ forgotten: 9000, ran_at: expect.any(Date) })
})

test('claims that race with the pruner get a true answer: a duplicate, or a grant of what was forgotten', async () => {
  await put('races', { key_retention_ms: dayMs })
  for (let round = 0; round < 8; round++) {
    const records = await Promise.all(
      Array.from({ length: 12 }, (_, at) => situations['completed']?.('races', `${round}:${at}`)),
    )
    for (const record of records) if (record) await age(record.id, 2)
    const [answers] = await Promise.all([Promise.all(records.map((_, at) => claim('races', `${round}:${at}`))), run()])
    for (const [at, answer] of answers.entries()) {
      expect(['duplicate', 'claimed']).toContain(answer.outcome)
      if (answer.outcome !== 'claimed') continue
      expect(answer.fencing_token).toBeGreaterThan(records[at]?.fencing_token ?? 0)
      expect((await settle(answer, 'complete')).state).toBe('completed')
    }
  }
})

test('a transaction that does not commit leaves records and their time as they were', async () => {
  await put('rolls.back', short)
  const record = await situations['completed']?.('rolls.back', 'a')
  if (!record) throw new Error('it is made')
  await age(record.id, 11)
  await app.sql`ALTER TABLE class_retention ADD CONSTRAINT refuses CHECK (class <> 'rolls.back' OR forgotten = 0) NOT VALID`
  await expect(run()).rejects.toMatchObject({ code: '23514' })
  expect(await stored(record.id)).toMatchObject({ state: 2 })
  await app.sql`ALTER TABLE class_retention DROP CONSTRAINT refuses`
  await run()
  expect(await stored(record.id)).toBeUndefined()
})
