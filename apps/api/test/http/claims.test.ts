import { type DecisionView, decisionSchema, type Outcome, outcomeStatus } from '@ranbook/contract'
import { defaultPolicy, StoreError } from '@ranbook/rules'
import { expect, test } from 'vitest'
import { type Answered, call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { type MemoryApp, memoryApp } from './memory-app.ts'

const claim = ({ app }: MemoryApp, body: unknown): Promise<Answered> => call(app, 'POST', '/v1/claims', { body })
const verb = ({ app }: MemoryApp, id: string, name: string, body: unknown): Promise<Answered> =>
  call(app, 'POST', `/v1/claims/${id}/${name}`, { body })

/** The answer is the decision document, with the status of its outcome and nothing of a token it must not hold. */
function expectDecision(answer: Answered, outcome: Outcome): DecisionView {
  expect([answer.json?.outcome, answer.status]).toEqual([outcome, outcomeStatus[outcome]])
  expect(answer.headers.get('content-type')).toBe('application/json')
  const decision = decisionSchema.parse(answer.json)
  expect(decision.claim_token === null).toBe(outcome !== 'claimed')
  const waits = ['in_progress', 'backoff', 'waiting'].includes(outcome)
  expect(decision.retry_after_ms === null).toBe(!waits)
  const seconds = waits ? String(Math.max(1, Math.ceil((decision.retry_after_ms ?? 0) / 1000))) : null
  expect(answer.headers.get('retry-after')).toBe(seconds)
  return decision
}

test('a first claim is 201 with everything its owner needs', async () => {
  const it = memoryApp()
  const body = claimBody('order:88', { claim_token: tokenOf(1), owner: 'me', lease_ms: 5000 })
  expect(expectDecision(await claim(it, body), 'claimed')).toEqual({
    outcome: 'claimed',
    id: expect.stringMatching(/^rec_[0-9a-f]{32}$/),
    class: 'refund.issued',
    consumer: 'worker',
    key: 'order:88',
    state: 'claimed',
    generation: 1,
    attempt: 1,
    claim_token: tokenOf(1),
    fencing_token: 1,
    idempotency_key: expect.stringMatching(/^rbk-[0-9a-f]{32}-1$/),
    lease_expires_at: '2026-11-30T10:00:05.000Z',
    lease_remaining_ms: 5000,
    lease_over: false,
    has_result: false,
    result: null,
    error: null,
    details_erased_at: null,
    first_claimed_at: '2026-11-30T10:00:00.000Z',
    settled_at: null,
    retry_after_ms: null,
    reason: null,
    skipped: false,
    degraded: false,
    replay: null,
  })
})

test('the same request again, with its token, is the same claim', async () => {
  const it = memoryApp()
  const body = claimBody('k', { claim_token: tokenOf(1) })
  const [first, second] = [await claim(it, body), await claim(it, body)]
  expect(second.status).toBe(201)
  expect(second.json).toEqual(first.json)
})

test('a claim token is taken in upper case and answered in lower case', async () => {
  const it = memoryApp()
  const token = 'ABCDEF00-0000-4000-8000-00000000000A'
  expect((await claim(it, claimBody('k', { claim_token: token }))).json.claim_token).toBe(token.toLowerCase())
  expect((await claim(it, claimBody('k', { claim_token: token.toLowerCase() }))).status).toBe(201)
})

test('without a claim token the service makes one', async () => {
  const it = memoryApp()
  const { claim_token } = (await claim(it, claimBody('k'))).json
  expect(claim_token).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test('in_progress: 409 with Retry-After, at least 1 s and at most 5 s', async () => {
  const it = memoryApp()
  await claim(it, claimBody('k', { lease_ms: 1000 }))
  it.clock.now += 999
  expect(expectDecision(await claim(it, claimBody('k')), 'in_progress').retry_after_ms).toBeLessThanOrEqual(2)
  await claim(it, claimBody('long', { lease_ms: 86_400_000 }))
  expect(expectDecision(await claim(it, claimBody('long')), 'in_progress').retry_after_ms).toBeLessThanOrEqual(5000)
})

test('duplicate: 200 with the result, digit for digit', async () => {
  const it = memoryApp()
  const { id, claim_token } = (await claim(it, claimBody('k'))).json
  await verb(it, id, 'complete', `{"claim_token":"${claim_token}","result":{"b":12345678901234567890,"a":1.0e2}}`)
  const answer = await claim(it, claimBody('k'))
  expect(expectDecision(answer, 'duplicate')).toMatchObject({ state: 'completed', has_result: true, lease_over: false })
  expect(answer.text).toContain('"result":{"b":12345678901234567890,"a":1.0e2},')
})

test('a result of null is a result, an absent one is none', async () => {
  const it = memoryApp()
  for (const [key, result, has] of [
    ['with', ',"result":null', true],
    ['without', '', false],
  ] as const) {
    const { id, claim_token } = (await claim(it, claimBody(key))).json
    await verb(it, id, 'complete', `{"claim_token":"${claim_token}"${result}}`)
    expect((await claim(it, claimBody(key))).json).toMatchObject({
      outcome: 'duplicate',
      has_result: has,
      result: null,
    })
  }
})

test('backoff, then the next attempt; dead once they are used up', async () => {
  const it = memoryApp()
  it.policies.set('refund.issued', { ...defaultPolicy, max_attempts: 2 })
  const first = (await claim(it, claimBody('k'))).json
  await verb(it, first.id, 'fail', { claim_token: first.claim_token, error: { message: 'm' }, retry_after_ms: 4000 })
  const backoff = expectDecision(await claim(it, claimBody('k')), 'backoff')
  expect(backoff).toMatchObject({ state: 'failed', retry_after_ms: 4400, error: { message: 'm' }, settled_at: null })
  it.clock.now += 4000
  const second = expectDecision(await claim(it, claimBody('k')), 'claimed')
  expect(second).toMatchObject({ attempt: 2, error: null, idempotency_key: first.idempotency_key })
  await verb(it, first.id, 'fail', { claim_token: second.claim_token, error: { message: 'm2' } })
  const dead = expectDecision(await claim(it, claimBody('k')), 'dead')
  expect(dead).toMatchObject({ state: 'dead', reason: 'max_attempts', settled_at: '2026-11-30T10:00:04.000Z' })
})

test('held: 423 from the moment a hold lease is over, whether or not anybody swept', async () => {
  const it = memoryApp()
  it.policies.set('refund.issued', { ...defaultPolicy, on_lease_expiry: 'hold' })
  await claim(it, claimBody('k', { lease_ms: 1000 }))
  it.clock.now += 1001
  expect(expectDecision(await claim(it, claimBody('k')), 'held')).toMatchObject({ state: 'held', lease_over: true })
})

test('mismatch: 422 for another payload under the key, whatever the state', async () => {
  const it = memoryApp()
  const { id, claim_token } = (await claim(it, claimBody('k', { payload: { a: 1, b: 2 } }))).json
  expect((await claim(it, claimBody('k', { payload: { b: 2.0, a: 1 } }))).json.outcome).toBe('in_progress')
  expectDecision(await claim(it, claimBody('k', { payload: { a: 1 } })), 'mismatch')
  await verb(it, id, 'complete', { claim_token })
  expectDecision(await claim(it, claimBody('k', { payload: { a: 1 } })), 'mismatch')
})

test('payloads that only a double would confuse are a mismatch', async () => {
  const it = memoryApp()
  const body = (n: string): string => `{"class":"c","consumer":"w","key":"k","payload":${n}}`
  expect((await claim(it, body('9007199254740992'))).status).toBe(201)
  expectDecision(await claim(it, body('9007199254740993')), 'mismatch')
})

test('a token that had an attempt gets no other: 409 token_spent as a problem without Retry-After', async () => {
  const it = memoryApp()
  const body = claimBody('k', { claim_token: tokenOf(1) })
  const { id } = (await claim(it, body)).json
  await verb(it, id, 'release', { claim_token: tokenOf(1) })
  expectProblem(await claim(it, body), 'token_spent')
  expectDecision(await claim(it, claimBody('k')), 'claimed')
})

test('the first delivery that gives details fixes them; refs, source, seq and times reach the store', async () => {
  const it = memoryApp()
  const first = claimBody('k', { source: 's', seq: '9223372036854775807', refs: ['r1', 'r2'] })
  const { id } = (await claim(it, { ...first, occurred_at: '2026-11-30T09:59:59.999Z', payload: null })).json
  const { rows } = await it.store.readFull([id.slice(4)])
  expect(rows[0]?.details).toEqual({
    payload: 'null',
    refs: ['r1', 'r2'],
    source: 's',
    seq: '9223372036854775807',
    occurredAt: Date.UTC(2026, 10, 30, 9, 59, 59, 999),
  })
})

test('a class that keeps no payload still compares fingerprints', async () => {
  const it = memoryApp()
  it.policies.set('refund.issued', { ...defaultPolicy, store_payload: false })
  const { id } = (await claim(it, claimBody('k', { payload: 1 }))).json
  expect((await it.store.readFull([id.slice(4)])).rows[0]?.details.payload).toBeNull()
  expectDecision(await claim(it, claimBody('k', { payload: 2 })), 'mismatch')
})

test.each([
  ['store_unavailable', () => new StoreError('store_unavailable', 'postgres://user:secret@db')],
  ['storage_full', () => new StoreError('storage_full', 'no space')],
  ['overloaded', () => new StoreError('overloaded', 'queue')],
] as const)('a store that says %s makes claims and settles 503 with Retry-After', async (code, error) => {
  const it = memoryApp()
  const { id, claim_token } = (await claim(it, claimBody('k'))).json
  const broken = async (): Promise<never> => {
    throw error()
  }
  Object.assign(it.deps.ledger.store, { insertIfAbsent: broken, completeClaimed: broken })
  for (const answer of [await claim(it, claimBody('k2')), await verb(it, id, 'complete', { claim_token })]) {
    const problem = expectProblem(answer, code)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(problem.detail).not.toContain('secret')
  }
})

test('policies that could not be re-read make claims 503', async () => {
  const it = memoryApp()
  it.state.policiesFresh = false
  expectProblem(await claim(it, claimBody('k')), 'policies_stale')
})
