import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Claimed, createRanbook, type Decision, type Ranbook } from '../src/index.ts'
import { type Service, startService } from './start-service.ts'

let service: Service
let ranbook: Ranbook

beforeAll(async () => {
  service = await startService()
  ranbook = createRanbook({ url: service.url, apiKey: service.key, consumer: 'billing-worker' })
})
afterAll(() => service?.remove())

function granted(decision: Decision): Claimed {
  if (decision.outcome !== 'claimed') throw new Error(`expected a grant, got ${decision.outcome}`)
  return decision
}

const order = (key: string) => ({ class: 'refund.issued', key })

test('a claim is granted once, completed once, and every later one gets the result', async () => {
  const claim = granted(
    await ranbook.claim({ ...order('sdk:1'), payload: { cents: 4200 }, refs: ['sdk'], owner: 'pod/1' }),
  )
  expect(await ranbook.claim(order('sdk:1'))).toMatchObject({ outcome: 'in_progress', claim_token: null })
  const record = await ranbook.complete(claim, { refund: 're_1' })
  expect(record).toMatchObject({ state: 'completed', has_result: true, owner: 'pod/1' })
  expect(await ranbook.complete(claim, { refund: 're_1' })).toEqual(record)
  expect(await ranbook.claim({ ...order('sdk:1'), payload: { cents: 4200.0 } })).toMatchObject({
    outcome: 'duplicate',
    result: { refund: 're_1' },
  })
  await expect(ranbook.fail(claim, { message: 'no' })).rejects.toMatchObject({ code: 'already_settled', status: 409 })
})

test('a result of null differs from none', async () => {
  await ranbook.complete(granted(await ranbook.claim(order('sdk:null'))), null)
  expect(await ranbook.claim(order('sdk:null'))).toMatchObject({ outcome: 'duplicate', has_result: true, result: null })
  await ranbook.complete(granted(await ranbook.claim(order('sdk:none'))))
  expect(await ranbook.claim(order('sdk:none'))).toMatchObject({
    outcome: 'duplicate',
    has_result: false,
    result: null,
  })
})

test('a failed attempt backs off, one that is not retryable is dead, a released one is granted again', async () => {
  const failed = granted(await ranbook.claim(order('sdk:failed')))
  expect(
    await ranbook.fail(failed, { message: 'no', code: 'declined', detail: { at: 1 } }, { retryAfterMs: 60_000 }),
  ).toMatchObject({
    state: 'failed',
    error: { message: 'no', code: 'declined', detail: { at: 1 } },
  })
  const backoff = await ranbook.claim(order('sdk:failed'))
  expect(backoff.outcome).toBe('backoff')
  expect(backoff.retry_after_ms).toBeGreaterThan(1000)

  const dead = granted(await ranbook.claim(order('sdk:dead')))
  await ranbook.fail(dead, { message: 'never' }, { retryable: false })
  expect(await ranbook.claim(order('sdk:dead'))).toMatchObject({ outcome: 'dead', reason: 'not_retryable' })

  const unstarted = granted(await ranbook.claim(order('sdk:released')))
  expect(await ranbook.release(unstarted)).toMatchObject({ state: 'ready' })
  expect(granted(await ranbook.claim(order('sdk:released'))).attempt).toBe(1)
})

test('extend keeps a claim alive by what it is told, or by its own length', async () => {
  const claim = granted(await ranbook.claim({ ...order('sdk:extend'), leaseMs: 60_000 }))
  expect((await ranbook.extend(claim, 3_600_000)).lease_remaining_ms).toBeGreaterThan(3_000_000)
  expect(Date.parse((await ranbook.extend(claim)).lease_expires_at)).toBeGreaterThan(Date.now())
})

test('another payload under the same key is a mismatch, whatever became of the first', async () => {
  await ranbook.claim({ ...order('sdk:mismatch'), payload: { cents: 1 } })
  expect(await ranbook.claim({ ...order('sdk:mismatch'), payload: { cents: 2 } })).toMatchObject({
    outcome: 'mismatch',
  })
})

test('every option is taken by the service, numbers beyond 2^53 included', async () => {
  const claim = granted(
    await ranbook.claim({
      ...order('sdk:every'),
      consumer: 'another-worker',
      claimToken: '00000000-0000-4000-8000-00000000ABCD',
      owner: 'pod/2',
      leaseMs: 5000,
      payload: [1],
      fingerprint: 'sha256:1',
      refs: ['a', 'b'],
      source: 'billing',
      seq: 2n ** 63n - 1n,
      occurredAt: new Date('2026-11-30T10:00:00.000Z'),
      waitMs: 0,
    }),
  )
  expect(claim).toMatchObject({ consumer: 'another-worker', claim_token: '00000000-0000-4000-8000-00000000abcd' })
  expect(await ranbook.get(`/v1/records/${claim.id}`)).toMatchObject({
    owner: 'pod/2',
    refs: ['a', 'b'],
    source: 'billing',
    seq: '9223372036854775807',
    occurred_at: '2026-11-30T10:00:00.000Z',
    payload: [1],
  })
  await expect(ranbook.claim({ ...order('sdk:rounded'), source: 's', seq: 2 ** 53 })).rejects.toMatchObject({
    code: 'invalid_request',
    problem: { errors: [{ path: 'seq', message: expect.stringContaining('string') }] },
  })
})

test('a claim that waits is told as soon as the other one has completed', async () => {
  const claim = granted(await ranbook.claim(order('sdk:wait')))
  const waiting = ranbook.claim({ ...order('sdk:wait'), waitMs: 30_000 })
  await ranbook.complete(claim, 'done')
  expect(await waiting).toMatchObject({ outcome: 'duplicate', result: 'done' })
})

test('an abort ends a claim that waits at the service', async () => {
  granted(await ranbook.claim(order('sdk:gone')))
  const abort = new AbortController()
  const waiting = ranbook.claim({ ...order('sdk:gone'), waitMs: 30_000, signal: abort.signal })
  abort.abort(new Error('shutting down'))
  await expect(waiting).rejects.toThrow('shutting down')
})

test.each([
  ['not_found', () => ranbook.complete({ id: 'rec_none', claim_token: crypto.randomUUID() })],
  ['invalid_request', () => ranbook.claim({ class: 'a*', key: 'k' })],
  ['invalid_request', () => ranbook.claim({ ...order('k'), claimToken: 'no-uuid' })],
  ['unauthenticated', () => createRanbook({ url: service.url, apiKey: 'rbk_x', consumer: 'c' }).claim(order('k'))],
])('a refusal is thrown with its code: %s (%#)', async (code, call) => {
  await expect(call()).rejects.toMatchObject({
    name: 'RanbookError',
    code,
    problem: { request_id: expect.any(String), status: expect.any(Number) },
  })
})

test('a claim made while the service restarts is answered by the next one, once', async () => {
  const claimToken = crypto.randomUUID()
  await service.stop()
  const patient = createRanbook({
    url: service.url,
    apiKey: service.key,
    consumer: 'billing-worker',
    retries: 1000,
    deadlineMs: 60_000,
  })
  const claiming = patient.claim({ ...order('sdk:restart'), claimToken })
  await service.start()
  expect(await claiming).toMatchObject({ outcome: 'claimed', attempt: 1, claim_token: claimToken })
  // The token is the claim: asked again with it, the answer is the same grant.
  expect(await patient.claim({ ...order('sdk:restart'), claimToken })).toMatchObject({ outcome: 'claimed', attempt: 1 })
  expect(await patient.claim(order('sdk:restart'))).toMatchObject({ outcome: 'in_progress' })
})
