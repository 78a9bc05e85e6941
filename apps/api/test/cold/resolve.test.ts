import { recordSchema } from '@ranbook/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { coldApp } from './cold-app.ts'

const app = await coldApp()
const { request, claim, expire, sql } = app
const held = { class: 'charge.made', consumer: 'billing' }

const settle = (id: string, verb: string, body: unknown) => request('POST', `/v1/claims/${id}/${verb}`, { body })
const resolve = (id: string, decision: string, more: object = {}) =>
  request('POST', `/v1/records/${id}/resolve`, { body: { decision, reason: 'as the bank says', ...more } })

async function heldRecord(key: string): Promise<{ id: string; claim_token: string }> {
  const made = await claim({ ...held, key })
  await expire(made.id)
  return made
}

async function auditOf(id: string) {
  const rows =
    await sql`SELECT actor, action, reason, before::text, after::text FROM audit WHERE target = ${id} ORDER BY id`
  return rows.map(({ before, after, ...row }) => ({ ...row, before: JSON.parse(before), after: JSON.parse(after) }))
}

beforeAll(async () => {
  await request('PUT', '/v1/classes/charge.*', { body: { on_lease_expiry: 'hold' } })
})

describe('an operator decides about a held record', () => {
  test.each([
    { decision: 'completed', state: 'completed', next: 'duplicate' },
    { decision: 'retry', state: 'ready', next: 'claimed' },
    { decision: 'dead', state: 'dead', next: 'dead' },
    { decision: 'skipped', state: 'skipped', next: 'duplicate' },
  ])('$decision: it is $state and the next delivery is told $next', async ({ decision, state, next }) => {
    const { id } = await heldRecord(`held:${decision}`)
    const result = decision === 'completed' ? { result: { charge: 12345678901234567890n.toString() } } : {}
    const answer = await resolve(id, decision, result)
    expect(answer.status).toBe(200)
    expect(recordSchema.parse(answer.json)).toMatchObject({ id, state, reason: 'operator' })
    const delivery = await claim({ ...held, key: `held:${decision}` })
    expect(delivery).toMatchObject({ outcome: next, skipped: decision === 'skipped' })
    if (decision === 'completed') expect(delivery.result).toEqual({ charge: '12345678901234567890' })
    expect(await auditOf(id)).toEqual([
      {
        actor: 'key:admin',
        action: 'record.resolve',
        reason: 'as the bank says',
        before: { state: 'held', attempt: 1 },
        after: { decision, end_live_claim: false },
      },
    ])
  })

  test('retry keeps generation and idempotency key and grants the next attempt', async () => {
    const first = await claim({ ...held, key: 'again' })
    await expire(first.id)
    await resolve(first.id, 'retry')
    expect(await claim({ ...held, key: 'again' })).toMatchObject({
      outcome: 'claimed',
      generation: 1,
      attempt: 2,
      idempotency_key: first.idempotency_key,
    })
  })

  test('retry of a record that was given back unstarted leaves it so, and is in the audit', async () => {
    const given = { class: 'mail', consumer: 'm', key: 'given back' }
    const { id, claim_token } = await claim(given)
    await settle(id, 'release', { claim_token })
    expect((await resolve(id, 'retry')).json).toMatchObject({ id, state: 'ready', attempt: 1 })
    expect(await auditOf(id)).toMatchObject([{ action: 'record.resolve', after: { decision: 'retry' } }])
    const answer = await request('GET', '/v1/lookup?q=given+back')
    expect(answer.json.records).toMatchObject([{ verdict: 'ready' }])
    expect(answer.text).toContain('has not run: m gave attempt 1 back unstarted')
    expect(await claim(given)).toMatchObject({ outcome: 'claimed', attempt: 1 })
  })

  test('a result keeps its digits and belongs to completed only', async () => {
    const { id } = await heldRecord('digits')
    const refused = await resolve(id, 'dead', { result: 1 })
    expect(refused.json).toMatchObject({ code: 'invalid_request', errors: [{ path: 'result' }] })
    const body = '{"decision":"completed","reason":"seen","result":{"a":12345678901234567890,"b":1.50}}'
    const answer = await request('POST', `/v1/records/${id}/resolve`, { body })
    expect(answer.text).toContain('"result":{"a":12345678901234567890,"b":1.50}')
  })
})

describe('what may be decided', () => {
  test('failed, dead and ready records; completed and skipped ones answer as they stand', async () => {
    const failed = await claim({ class: 'mail', consumer: 'm', key: 'failed' })
    await settle(failed.id, 'fail', { claim_token: failed.claim_token, error: { message: 'no' } })
    const dead = await claim({ class: 'mail', consumer: 'm', key: 'dead' })
    await settle(dead.id, 'fail', { claim_token: dead.claim_token, error: { message: 'no' }, retryable: false })
    const ready = await claim({ class: 'mail', consumer: 'm', key: 'ready' })
    await settle(ready.id, 'release', { claim_token: ready.claim_token })
    for (const { id } of [failed, dead, ready]) {
      const stood = (await request('GET', `/v1/records/${id}`)).json
      expect((await resolve(id, 'completed')).json).toMatchObject({ id, state: 'completed', error: null })
      const refused = await resolve(id, 'retry')
      expect(refused.status).toBe(409)
      expect(refused.json).toMatchObject({ code: 'not_resolvable', current: { id, state: 'completed' } })
      expect(recordSchema.parse(refused.json.current)).toBeDefined()
      expect(await auditOf(id)).toMatchObject([{ before: { state: stood.state, attempt: 1 } }])
    }
  })

  test('a live claim only when its end is asked for, and its token is stale from then on', async () => {
    const { id, claim_token } = await claim({ class: 'mail', consumer: 'm', key: 'live' })
    expect((await resolve(id, 'dead')).json).toMatchObject({ code: 'not_resolvable', current: { state: 'claimed' } })
    expect(await auditOf(id)).toEqual([])
    expect((await resolve(id, 'dead', { end_live_claim: true })).json).toMatchObject({ state: 'dead' })
    for (const verb of ['complete', 'extend', 'release']) {
      expect((await settle(id, verb, { claim_token })).json).toMatchObject({ code: 'stale_claim' })
    }
  })

  test('no record, no id and a reason left out are told apart', async () => {
    expect((await resolve('rec_00000000000000000000000000000000', 'dead')).json.code).toBe('not_found')
    expect((await resolve('rec_x', 'dead')).json.code).toBe('not_found')
    const { id } = await heldRecord('reasonless')
    const answer = await request('POST', `/v1/records/${id}/resolve`, { body: { decision: 'dead' } })
    expect(answer.json).toMatchObject({ code: 'invalid_request', errors: [{ path: 'reason' }] })
  })
})

describe('the last owner is believed', () => {
  test('while the record is held: a complete clears the hold', async () => {
    const { id, claim_token } = await heldRecord('late:held')
    expect((await settle(id, 'complete', { claim_token, result: 'done' })).json).toMatchObject({
      state: 'completed',
      result: 'done',
    })
    expect((await resolve(id, 'dead')).json).toMatchObject({ code: 'not_resolvable', current: { state: 'completed' } })
  })

  test('after retry until a delivery takes the record up: a complete prevents a second effect', async () => {
    const { id, claim_token } = await heldRecord('late:retry')
    await resolve(id, 'retry')
    expect((await settle(id, 'release', { claim_token })).json.code).toBe('stale_claim')
    expect((await settle(id, 'complete', { claim_token, result: 'done' })).json).toMatchObject({ state: 'completed' })
    expect(await claim({ ...held, key: 'late:retry' })).toMatchObject({ outcome: 'duplicate', result: 'done' })
  })

  test('no longer once a delivery took it up: the result is kept in the timeline', async () => {
    const { id, claim_token } = await heldRecord('late:taken')
    await resolve(id, 'retry')
    await claim({ ...held, key: 'late:taken' })
    expect((await settle(id, 'complete', { claim_token, result: 'done' })).json).toMatchObject({
      code: 'stale_claim',
      current: { attempt: 2, state: 'claimed' },
    })
    const { json } = await request('GET', `/v1/records/${id}`)
    expect(json.late_completions).toMatchObject([{ generation: 1, attempt: 1, has_result: true, result: 'done' }])
  })

  test('no longer once an operator said dead or skipped', async () => {
    for (const decision of ['dead', 'skipped', 'completed']) {
      const { id, claim_token } = await heldRecord(`late:${decision}`)
      await resolve(id, decision)
      expect((await settle(id, 'complete', { claim_token, result: 'done' })).json.code).toBe('stale_claim')
      const { json } = await request('GET', `/v1/records/${id}`)
      expect(json.late_completions).toHaveLength(1)
    }
  })
})

test('of many deciders and a late complete at once the first to commit wins, and only what won is in the audit', async () => {
  for (let round = 0; round < 8; round++) {
    const { id, claim_token } = await heldRecord(`race:${round}`)
    const deciders = ['completed', 'dead', 'skipped'].map((decision) => resolve(id, decision))
    const [late, ...decided] = await Promise.all([settle(id, 'complete', { claim_token, result: 'mine' }), ...deciders])
    const winners = [late, ...decided].filter(({ status }) => status === 200)
    const { json: record } = await request('GET', `/v1/records/${id}`)
    const resolved = decided.filter(({ status }) => status === 200)
    expect(record.audit).toHaveLength(resolved.length)
    // A dead record may be decided anew; what stands is what was decided last.
    expect(winners.map(({ json }) => json.state)).toContain(record.state)
    if (late.status === 200)
      expect({ state: record.state, result: record.result }).toEqual({ state: 'completed', result: 'mine' })
    else expect(late.json.code).toBe('stale_claim')
  }
})

test('a decision whose audit line can not be written does not happen', async () => {
  const { id } = await heldRecord('unaudited')
  await sql`ALTER TABLE audit ADD CONSTRAINT refuse_all CHECK (actor = 'nobody') NOT VALID`
  try {
    expect((await resolve(id, 'dead')).status).toBeGreaterThanOrEqual(500)
  } finally {
    await sql`ALTER TABLE audit DROP CONSTRAINT refuse_all`
  }
  expect((await request('GET', `/v1/records/${id}`)).json).toMatchObject({ state: 'held', audit: [] })
})
