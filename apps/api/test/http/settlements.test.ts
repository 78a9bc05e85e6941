import { leaseSchema, recordSchema } from '@ranbook/contract'
import { expect, test } from 'vitest'
import { PoliciesStale } from '../../src/ledger/ledger-deps.ts'
import { type Answered, call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { keyOf, type MemoryApp, memoryApp } from './memory-app.ts'

type Claimed = MemoryApp & { id: string; token: string }

async function claimed(more: Record<string, unknown> = {}): Promise<Claimed> {
  const it = memoryApp()
  const body = claimBody('k', { claim_token: tokenOf(1), ...more })
  const { json } = await call(it.app, 'POST', '/v1/claims', { body })
  return { ...it, id: json.id, token: tokenOf(1) }
}

const settle = (it: Claimed, verb: string, body: Record<string, unknown> = {}): Promise<Answered> =>
  call(it.app, 'POST', `/v1/claims/${it.id}/${verb}`, { body: { claim_token: it.token, ...body } })

test.each([
  [
    'complete',
    { result: { ok: true } },
    { state: 'completed', has_result: true, settled_at: '2026-11-30T10:00:00.000Z' },
  ],
  ['fail', { error: { message: 'm', code: 'E', detail: [1] } }, { state: 'failed', settled_at: null }],
  ['fail', { error: { message: 'm' }, retryable: false }, { state: 'dead', reason: 'not_retryable' }],
  ['release', {}, { state: 'ready', settled_at: null }],
])('%s with %j answers the record, and again the same', async (verb, body, expected) => {
  const it = await claimed({ owner: 'me' })
  const first = await settle(it, verb, body)
  expect(first.status).toBe(200)
  expect(recordSchema.parse(first.json)).toMatchObject({ ...expected, id: it.id, owner: 'me', lease_expires_at: null })
  expect(first.text).not.toContain(it.token)
  it.clock.now += 10
  const again = await settle(it, verb, body)
  expect([again.status, again.json]).toEqual([200, first.json])
})

test('extend lengthens the lease by what was asked, else by the length fixed at the grant', async () => {
  const it = await claimed({ lease_ms: 5000 })
  it.clock.now += 1000
  const asked = await settle(it, 'extend', { lease_ms: 60_000 })
  expect(leaseSchema.parse(asked.json)).toEqual({
    lease_expires_at: '2026-11-30T10:01:01.000Z',
    lease_remaining_ms: 60_000,
  })
  it.clock.now += 60_000
  expect((await settle(it, 'extend')).json.lease_remaining_ms).toBe(5000)
})

test('the owner is believed after its lease, until somebody else was granted; then it is told who holds the claim', async () => {
  const it = await claimed({ lease_ms: 1000 })
  it.clock.now += 5000
  expect((await settle(it, 'extend', { lease_ms: 1000 })).status).toBe(200)
  it.clock.now += 5000
  await call(it.app, 'POST', '/v1/claims', { body: claimBody('k', { claim_token: tokenOf(2), owner: 'other' }) })
  const answer = await settle(it, 'complete', { result: 'late' })
  const problem = expectProblem(answer, 'stale_claim')
  expect(problem.current).toMatchObject({ state: 'claimed', attempt: 2, owner: 'other', lease_remaining_ms: 60_000 })
  expect(answer.text).not.toContain(tokenOf(2))
  const { lateCompletions } = await it.store.readHistory(it.id.slice(4))
  expect(lateCompletions).toMatchObject([{ claimToken: it.token, result: '"late"' }])
})

test('another verb after a settle is already_settled, another result is result_conflict', async () => {
  const it = await claimed()
  await settle(it, 'complete', { result: 1 })
  for (const [verb, body] of [
    ['fail', { error: { message: 'm' } }],
    ['extend', {}],
    ['release', {}],
  ] as const) {
    expectProblem(await settle(it, verb, body), 'already_settled')
  }
  expectProblem(await settle(it, 'complete', { result: 2 }), 'result_conflict')
  expectProblem(await settle(it, 'complete'), 'result_conflict')
  const same = await call(it.app, 'POST', `/v1/claims/${it.id}/complete`, {
    body: `{"claim_token":"${it.token}","result":1.0}`,
  })
  expect([same.status, same.json.result]).toEqual([200, 1])
})

test('an error message is cut at 8 KiB with a mark, at a whole character', async () => {
  for (const [character, bytes] of [
    ['x', 1],
    ['é', 2],
    ['😀', 4],
  ] as const) {
    const it = await claimed()
    const { json } = await settle(it, 'fail', { error: { message: character.repeat(9000 / bytes) } })
    const kept = json.error?.message ?? ''
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(8192)
    expect(Buffer.byteLength(kept)).toBeGreaterThan(8192 - 4)
    expect(kept).toMatch(new RegExp(`^(?:${character})+… \\[cut\\]$`, 'u'))
  }
  const it = await claimed()
  const whole = 'x'.repeat(8192)
  expect((await settle(it, 'fail', { error: { message: whole } })).json.error?.message).toBe(whole)
})

test('an error keeps its detail digit for digit, up to 64 KiB', async () => {
  const it = await claimed()
  const body = (detail: string): string => `{"claim_token":"${it.token}","error":{"message":"m","detail":${detail}}}`
  const send = (text: string) => call(it.app, 'POST', `/v1/claims/${it.id}/fail`, { body: text })
  expectProblem(await send(body(`"${'d'.repeat(64 * 1024 - 1)}"`)), 'payload_too_large')
  const fitting = await send(body(`"${'d'.repeat(64 * 1024 - 2)}"`))
  expect(fitting.status).toBe(200)

  const exact = await claimed()
  const answer = await call(exact.app, 'POST', `/v1/claims/${exact.id}/fail`, { body: body('{"n":1e400,"n":-0}') })
  expect(answer.text).toContain('"error":{"message":"m","detail":{"n":1e400,"n":-0}}')
})

test.each([
  ['complete', {}],
  ['complete', { claim_token: 'x' }],
  ['complete', { claim_token: tokenOf(1), results: 1 }],
  ['fail', { claim_token: tokenOf(1) }],
  ['fail', { claim_token: tokenOf(1), error: 'text' }],
  ['fail', { claim_token: tokenOf(1), error: { message: 'm', stack: 's' } }],
  ['fail', { claim_token: tokenOf(1), error: { message: 'm', code: 'c'.repeat(201) } }],
  ['fail', { claim_token: tokenOf(1), error: { message: 'm' }, retryable: 'no' }],
  ['fail', { claim_token: tokenOf(1), error: { message: 'm' }, retry_after_ms: 604_800_001 }],
  ['fail', { claim_token: tokenOf(1), error: { message: 'm' }, retry_after_ms: -1 }],
  ['extend', { claim_token: tokenOf(1), lease_ms: 0 }],
  ['extend', { claim_token: tokenOf(1), lease_ms: 1000.5 }],
  ['release', { claim_token: tokenOf(1), reason: 'x' }],
])('%s refuses %j and leaves the claim as it is', async (verb, body) => {
  const it = await claimed()
  expectProblem(await call(it.app, 'POST', `/v1/claims/${it.id}/${verb}`, { body }), 'invalid_request')
  const [standing] = await it.store.read([{ digest: it.id.slice(4), claimToken: null }])
  expect(standing?.record.version).toBe(1)
})

test('a policy that a newer version wrote keeps no claim from being settled, but for fail, which needs it', async () => {
  for (const [verb, body, status] of [
    ['fail', { error: { message: 'm' } }, 503],
    ['extend', {}, 200],
    ['release', {}, 200],
    ['complete', {}, 200],
  ] as const) {
    const it = await claimed()
    it.keys.set('all', keyOf('all', ['claim'], ['refund.*']))
    it.deps.ledger.policies.policyFor = () => {
      throw new PoliciesStale('the policy refund.* holds values of a newer version')
    }
    expect([verb, (await settle(it, verb, body)).status]).toEqual([verb, status])
  }
})
