import { expect, test } from 'vitest'
import { createRanbook, type RanbookError, type RanbookOptions } from '../src/index.ts'
import { type Answer, json, misbehavingServer, problem } from './misbehaving-server.ts'

const claimed = { outcome: 'claimed', id: 'rec_1', claim_token: '00000000-0000-4000-8000-000000000001' }
const order = { class: 'refund.issued', key: 'order:88:refund' }

async function clientOf(answer: Answer, options: Partial<RanbookOptions> = {}) {
  const { url, seen } = await misbehavingServer(answer)
  return { seen, ranbook: createRanbook({ url, apiKey: 'rbk_key', consumer: 'billing-worker', ...options }) }
}

test('a claim is one JSON request with the key, and fields that were not given are not sent', async () => {
  const { ranbook, seen } = await clientOf((response) => json(response, 201, claimed))
  expect(await ranbook.claim(order)).toEqual(claimed)
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatchObject({
    method: 'POST',
    path: '/v1/claims',
    headers: { authorization: 'Bearer rbk_key', 'content-type': 'application/json' },
  })
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
    class: 'refund.issued',
    key: 'order:88:refund',
    consumer: 'billing-worker',
    claim_token: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
})

test('every option of a claim reaches the wire under its own name', async () => {
  const { ranbook, seen } = await clientOf((response) => json(response, 201, claimed))
  await ranbook.claim({
    ...order,
    consumer: 'another',
    claimToken: claimed.claim_token,
    owner: 'pod/1',
    leaseMs: 5000,
    payload: null,
    fingerprint: 'sha256:1',
    refs: ['order:88'],
    source: 'billing',
    seq: 2n ** 63n - 1n,
    occurredAt: new Date(0),
    waitMs: 10,
  })
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
    class: 'refund.issued',
    consumer: 'another',
    key: 'order:88:refund',
    claim_token: claimed.claim_token,
    owner: 'pod/1',
    lease_ms: 5000,
    payload: null,
    fingerprint: 'sha256:1',
    refs: ['order:88'],
    source: 'billing',
    seq: '9223372036854775807',
    occurred_at: '1970-01-01T00:00:00.000Z',
    wait_ms: 10,
  })
})

test('settles carry the token and what was said, and nothing that was not said', async () => {
  const { ranbook, seen } = await clientOf((response) => json(response, 200, {}))
  const claim = { id: 'rec_a/b', claim_token: claimed.claim_token }
  await ranbook.complete(claim)
  await ranbook.complete(claim, null)
  await ranbook.fail(claim, { message: 'no' }, { retryable: false })
  await ranbook.extend(claim, 9000)
  await ranbook.release(claim)
  const token = { claim_token: claimed.claim_token }
  expect(seen.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    ['/v1/claims/rec_a%2Fb/complete', token],
    ['/v1/claims/rec_a%2Fb/complete', { ...token, result: null }],
    ['/v1/claims/rec_a%2Fb/fail', { ...token, error: { message: 'no' }, retryable: false }],
    ['/v1/claims/rec_a%2Fb/extend', { ...token, lease_ms: 9000 }],
    ['/v1/claims/rec_a%2Fb/release', token],
  ])
})

test.each([
  [200, 'duplicate'],
  [409, 'in_progress'],
  [410, 'dead'],
  [422, 'mismatch'],
  [423, 'held'],
])('status %i with a decision is an answer, asked for once', async (status, outcome) => {
  const { ranbook, seen } = await clientOf((response) => json(response, status, { outcome }, { 'retry-after': '1' }))
  expect(await ranbook.claim(order)).toEqual({ outcome })
  expect(seen).toHaveLength(1)
})

test('a lost connection is repeated with the same claim token', async () => {
  const { ranbook, seen } = await clientOf((response, _, attempt) => {
    if (attempt === 1) response.destroy()
    else json(response, 201, claimed)
  })
  expect(await ranbook.claim(order)).toEqual(claimed)
  expect(seen.map(({ body }) => body)).toEqual([seen[0]?.body, seen[0]?.body])
})

test('an answer that breaks off midway is repeated, never taken for an answer', async () => {
  const { ranbook, seen } = await clientOf((response, _, attempt) => {
    if (attempt > 1) return json(response, 201, claimed)
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"outcome":"claimed"}', () => response.destroy())
  })
  expect(await ranbook.claim(order)).toEqual(claimed)
  expect(seen).toHaveLength(2)
})

test('a try that takes too long is given up and repeated, and the next one answers', async () => {
  const { ranbook, seen } = await clientOf((response, _, attempt) => attempt > 1 && json(response, 201, claimed), {
    attemptTimeoutMs: 500,
    retries: 20,
  })
  expect(await ranbook.claim(order)).toEqual(claimed)
  expect(seen.length).toBeGreaterThan(1)
  expect(new Set(seen.map(({ body }) => body)).size).toBe(1)
})

test.each([429, 502, 503, 504])('status %i is repeated', async (status) => {
  const { ranbook, seen } = await clientOf((response, _, attempt) => {
    if (attempt === 1) problem(response, status, 'overloaded')
    else json(response, 200, { outcome: 'duplicate' })
  })
  expect(await ranbook.claim(order)).toEqual({ outcome: 'duplicate' })
  expect(seen).toHaveLength(2)
})

test.each([
  [400, 'invalid_request'],
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'stale_claim'],
  [422, 'not_available'],
  [500, 'internal'],
])('a refusal with status %i is thrown at once, as the service worded it', async (status, code) => {
  const { ranbook, seen } = await clientOf((response) => problem(response, status, code))
  const error = await ranbook.claim(order).catch((thrown: RanbookError) => thrown)
  expect(error).toMatchObject({
    name: 'RanbookError',
    code,
    status,
    message: `the detail of ${code}`,
    problem: { code, request_id: 'req-1' },
    retryAfterMs: null,
  })
  expect(seen).toHaveLength(1)
})

test('retries: 0 means one try', async () => {
  const { ranbook, seen } = await clientOf((response) => problem(response, 503, 'overloaded', { 'retry-after': '1' }), {
    retries: 0,
  })
  await expect(ranbook.claim(order)).rejects.toMatchObject({ code: 'overloaded', status: 503, retryAfterMs: 1000 })
  expect(seen).toHaveLength(1)
})

test('when every try is lost the error says that the outcome is unknown', async () => {
  const { ranbook, seen } = await clientOf((response) => response.destroy(), { retries: 1 })
  const error = await ranbook.claim(order).catch((thrown: RanbookError) => thrown)
  expect(error).toMatchObject({
    code: 'unreachable',
    status: 0,
    problem: null,
    message: expect.stringContaining('/v1/claims'),
  })
  expect((error as RanbookError).cause).toBeInstanceOf(Error)
  expect(seen).toHaveLength(2)
})

test('a page of a proxy is told from an answer, whatever its status', async () => {
  const { ranbook, seen } = await clientOf((response, { path }) => {
    response.writeHead(path === '/ok' ? 200 : 403, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
  })
  await expect(ranbook.get('/ok')).rejects.toMatchObject({ code: 'unexpected_answer', status: 200, problem: null })
  await expect(ranbook.get('/no')).rejects.toMatchObject({ code: 'unexpected_answer', status: 403 })
  expect(seen).toHaveLength(2)
})

test('a redirect is not followed: the key goes nowhere else and a claim stays a claim', async () => {
  const { ranbook, seen } = await clientOf((response, { path }) => {
    if (path === '/v1/claims') response.writeHead(302, { location: '/elsewhere' }).end()
    else json(response, 200, { outcome: 'duplicate' })
  })
  await expect(ranbook.claim(order)).rejects.toMatchObject({ code: 'unexpected_answer', status: 302 })
  expect(seen.map(({ path }) => path)).toEqual(['/v1/claims'])
})

test('the answer without a body, 204, is null', async () => {
  const { ranbook } = await clientOf((response) => response.writeHead(204).end())
  expect(await ranbook.get('/v1/anything')).toBeNull()
})

test.each([200, 201])('an empty answer with status %i is not taken for a success', async (status) => {
  const { ranbook, seen } = await clientOf((response) => response.writeHead(status).end())
  const claim = { id: 'rec_1', claim_token: claimed.claim_token }
  await expect(ranbook.claim(order)).rejects.toMatchObject({ code: 'unexpected_answer', status, problem: null })
  await expect(ranbook.complete(claim)).rejects.toMatchObject({ code: 'unexpected_answer', status })
  expect(seen).toHaveLength(2)
})

test('an abort ends a call that waits for its answer, with the reason given and without another try', async () => {
  const abort = new AbortController()
  const { ranbook, seen } = await clientOf(() => abort.abort(new Error('shutting down')))
  await expect(ranbook.claim({ ...order, signal: abort.signal })).rejects.toThrow('shutting down')
  expect(seen).toHaveLength(1)
})

test('an abort ends a call that pauses before its next try', async () => {
  const abort = new AbortController()
  const { ranbook, seen } = await clientOf((response) => {
    response.on('close', () => setImmediate(() => abort.abort(new Error('shutting down'))))
    problem(response, 503, 'draining', { 'retry-after': '10' })
  })
  await expect(ranbook.claim({ ...order, signal: abort.signal })).rejects.toThrow('shutting down')
  expect(seen).toHaveLength(1)
})

test('with a signal aborted before, nothing is sent', async () => {
  const { ranbook, seen } = await clientOf((response) => json(response, 200, {}))
  await expect(ranbook.get('/v1/me', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
  expect(seen).toEqual([])
})

test('a payload that is no JSON is the caller’s fault at once, and nothing is sent', async () => {
  const { ranbook, seen } = await clientOf((response) => json(response, 201, claimed))
  await expect(ranbook.claim({ ...order, payload: 1n })).rejects.toThrow(TypeError)
  expect(seen).toEqual([])
})

test('a path before the API is kept, with and without a slash at its end', async () => {
  const { url, seen } = await misbehavingServer((response) => json(response, 200, {}))
  for (const base of [`${url}/tools/ranbook`, `${url}/tools/ranbook/`])
    await createRanbook({ url: base, apiKey: 'k' }).get('/v1/me')
  expect(seen.map(({ path }) => path)).toEqual(['/tools/ranbook/v1/me', '/tools/ranbook/v1/me'])
})

test.each<[string, Partial<RanbookOptions>]>([
  ['url', { url: 'localhost:8080' }],
  ['url', { url: 'http://127.0.0.1:8080/?key=1' }],
  ['apiKey', { apiKey: '' }],
  ['apiKey', { apiKey: 'secret-with\na-line-break' }],
  ['attemptTimeoutMs', { attemptTimeoutMs: 0 }],
  ['deadlineMs', { deadlineMs: Number.POSITIVE_INFINITY }],
  ['retries', { retries: -1 }],
  ['retries', { retries: 0.5 }],
])('a wrong %s is refused when the client is made: %j', (name, wrong) => {
  const make = () => createRanbook({ url: 'http://127.0.0.1:8080', apiKey: 'rbk_key', ...wrong })
  expect(make).toThrow(TypeError)
  expect(make).toThrow(name)
  expect(make).not.toThrow('secret')
})
