import { claimBatchResponseSchema, problemSchema, settlementsResponseSchema } from '@ranbook/contract'
import { StoreError } from '@ranbook/rules'
import { describe, expect, test } from 'vitest'
import { type Answered, call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { type MemoryApp, memoryApp } from './memory-app.ts'

const claimAll = ({ app }: MemoryApp, claims: unknown): Promise<Answered> =>
  call(app, 'POST', '/v1/claims/batch', { body: typeof claims === 'string' ? claims : { claims } })
const settleAll = ({ app }: MemoryApp, settlements: unknown[]): Promise<Answered> =>
  call(app, 'POST', '/v1/settlements', { body: { settlements } })

/** Outcome or problem code of each item, in order. */
const outcomesOf = ({ json }: Answered): string[] =>
  (json.decisions ?? json.results).map((item) => item.problem?.code ?? item.outcome ?? item.ok)

test('a batch answers each item in order, and a bad one harms no other', async () => {
  const it = memoryApp()
  const items = [
    claimBody('a'),
    claimBody('b', { leaseMs: 1 }),
    7,
    null,
    [],
    claimBody('c', { key: 'x\u0000' }),
    claimBody('d', { wait_ms: 10 }),
    claimBody('e', { payload: 'x'.repeat(256 * 1024) }),
    claimBody('f'),
  ]
  const answer = await claimAll(it, items)
  expect(answer.status).toBe(200)
  expect(outcomesOf(answer)).toEqual([
    'claimed',
    'invalid_request',
    'invalid_request',
    'invalid_request',
    'invalid_request',
    'invalid_request',
    'invalid_request',
    'payload_too_large',
    'claimed',
  ])
  claimBatchResponseSchema.parse(answer.json)
  const { problem } = answer.json.decisions[1]
  expect(problemSchema.strict().parse(problem)).toMatchObject({
    errors: [{ path: 'leaseMs', message: 'unknown field' }],
    request_id: answer.headers.get('x-request-id'),
  })
  expect(answer.json.decisions[6].problem.errors).toEqual([{ path: 'wait_ms', message: 'unknown field' }])
})

test('an item too deep or with a member named twice is invalid_json, the others stand', async () => {
  const it = memoryApp()
  const deep = `{"class":"c","consumer":"w","key":"deep","payload":${'['.repeat(64)}${']'.repeat(64)}}`
  const twice = '{"class":"c","consumer":"w","key":"k1","key":"k2"}'
  const answer = await claimAll(it, `{"claims":[${deep},${twice},${JSON.stringify(claimBody('ok'))}]}`)
  expect(outcomesOf(answer)).toEqual(['invalid_json', 'invalid_json', 'claimed'])
})

test('of one identity twice the first is claimed and the other in_progress; same token: both; other payload: mismatch', async () => {
  const it = memoryApp()
  expect(outcomesOf(await claimAll(it, [claimBody('a'), claimBody('a')]))).toEqual(['claimed', 'in_progress'])
  const token = { claim_token: tokenOf(1) }
  const same = await claimAll(it, [claimBody('b', token), claimBody('b', token)])
  expect(outcomesOf(same)).toEqual(['claimed', 'claimed'])
  expect(same.json.decisions[0]).toEqual(same.json.decisions[1])
  const other = await claimAll(it, [claimBody('c', { payload: 1 }), claimBody('c', { payload: 2 })])
  expect(outcomesOf(other)).toEqual(['claimed', 'mismatch'])
})

test('a spent token is its item’s problem', async () => {
  const it = memoryApp()
  const body = claimBody('a', { claim_token: tokenOf(1) })
  const first = await claimAll(it, [body])
  await settleAll(it, [{ id: first.json.decisions[0].id, action: 'release', claim_token: tokenOf(1) }])
  expect(outcomesOf(await claimAll(it, [body, claimBody('b')]))).toEqual(['token_spent', 'claimed'])
})

test.each([
  ['no items', { claims: [] }],
  ['1 001 items', { claims: Array.from({ length: 1001 }, () => claimBody('k')) }],
  ['no list', { claims: claimBody('k') }],
  ['nothing', {}],
  ['an unknown field', { claims: [claimBody('k')], wait_ms: 0 }],
  ['a list', [claimBody('k')]],
])('a batch of %s is 400 as a whole', async (_, body) => {
  const { app } = memoryApp()
  expectProblem(await call(app, 'POST', '/v1/claims/batch', { body }), 'invalid_request')
})

test('a member of the batch itself named twice is 400 as a whole', async () => {
  const it = memoryApp()
  expectProblem(await claimAll(it, '{"claims":[],"claims":[]}'), 'invalid_json')
})

test('a thousand claims and a thousand settles go in one call each, up to 8 MiB', async () => {
  const it = memoryApp()
  const payload = 'x'.repeat(7000)
  const claims = Array.from({ length: 1000 }, (_, at) => claimBody(`k${at}`, { claim_token: tokenOf(at), payload }))
  const claimed = await claimAll(it, claims)
  expect(new Set(outcomesOf(claimed))).toEqual(new Set(['claimed']))
  const settled = await settleAll(
    it,
    claimed.json.decisions.map((d) => ({
      id: d.id,
      action: 'complete',
      claim_token: d.claim_token,
      result: d.key,
    })),
  )
  expect(settled.json.results.every((r) => r.ok && r.record.result === r.record.key)).toBe(true)
  const tooLarge = await claimAll(
    it,
    [...claims, ...claims].map((item) => ({ ...item, owner: 'x'.repeat(190) })),
  )
  expectProblem(tooLarge, 'payload_too_large')
})

test('a store failure is said per item, and the batch is repeated with its tokens', async () => {
  const it = memoryApp()
  const { insertIfAbsent } = it.deps.ledger.store
  it.deps.ledger.store.insertIfAbsent = async () => {
    throw new StoreError('store_unavailable', 'cut')
  }
  const items = [claimBody('a', { claim_token: tokenOf(1) }), claimBody('b', { lease_ms: 1 })]
  const failed = await claimAll(it, items)
  expect([failed.status, outcomesOf(failed)]).toEqual([200, ['store_unavailable', 'invalid_request']])
  it.deps.ledger.store.insertIfAbsent = insertIfAbsent
  expect(outcomesOf(await claimAll(it, items))).toEqual(['claimed', 'invalid_request'])
})

test('answers that are durable stand where a later store call fails, each item with its own problem', async () => {
  const it = memoryApp()
  const released = await claimAll(it, [claimBody('back', { claim_token: tokenOf(1) })])
  const { id } = released.json.decisions[0]
  await settleAll(it, [{ id, action: 'release', claim_token: tokenOf(1) }])
  const { compareAndSet } = it.deps.ledger.store
  it.deps.ledger.store.compareAndSet = async () => {
    throw new StoreError('store_unavailable', 'cut')
  }
  const items = [claimBody('new'), claimBody('back', { claim_token: tokenOf(2) }), claimBody('new')]
  expect(outcomesOf(await claimAll(it, items))).toEqual(['claimed', 'store_unavailable', 'in_progress'])
  it.deps.ledger.store.compareAndSet = compareAndSet
  expect(outcomesOf(await claimAll(it, items.slice(1, 2)))).toEqual(['claimed'])
})

test('a claim whose stored key is another one harms no other of its batch', async () => {
  const it = memoryApp()
  const { insertIfAbsent } = it.deps.ledger.store
  await claimAll(it, [claimBody('a')])
  it.deps.ledger.store.insertIfAbsent = async (records) =>
    (await insertIfAbsent(records)).map((outcome) =>
      outcome.inserted ? outcome : { ...outcome, record: { ...outcome.record, key: 'another' } },
    )
  expect(outcomesOf(await claimAll(it, [claimBody('a'), claimBody('b')]))).toEqual(['identity_collision', 'claimed'])
})

test('settles that are durable stand where a later store call fails; later ones of a failed record are not tried', async () => {
  const it = memoryApp()
  const claimed = await claimAll(it, [
    claimBody('a', { claim_token: tokenOf(1) }),
    claimBody('b', { claim_token: tokenOf(2) }),
  ])
  const [a, b] = claimed.json.decisions
  it.deps.ledger.store.compareAndSet = async () => {
    throw new StoreError('store_unavailable', 'cut')
  }
  const answer = await settleAll(it, [
    { id: a.id, action: 'complete', claim_token: tokenOf(1), result: 1 },
    { id: b.id, action: 'extend', claim_token: tokenOf(2) },
    { id: b.id, action: 'complete', claim_token: tokenOf(2) },
    { id: a.id, action: 'complete', claim_token: tokenOf(1), result: 1 },
  ])
  expect(outcomesOf(answer)).toEqual([true, 'store_unavailable', 'store_unavailable', true])
  const [standing] = await it.store.read([{ digest: b.id.slice(4), claimToken: null }])
  expect(standing?.record.state).toBe('claimed')
})

describe('an answer of any size', () => {
  const result = JSON.stringify('x'.repeat(256 * 1024 - 2))

  /** As many completed records, each with the largest result there is. */
  async function largeResults(count: number) {
    const it = memoryApp()
    const body = claimBody('one', { claim_token: tokenOf(1) })
    const { json } = await call(it.app, 'POST', '/v1/claims', { body })
    const completed = `{"claim_token":"${tokenOf(1)}","result":${result}}`
    await call(it.app, 'POST', `/v1/claims/${json.id}/complete`, { body: completed })
    const { insertIfAbsent } = it.deps.ledger.store
    const asked: number[] = []
    it.deps.ledger.store.insertIfAbsent = (records) => {
      asked.push(records.length)
      return insertIfAbsent(records)
    }
    const claims = Array.from({ length: count }, () => claimBody('one'))
    const response = await it.app.request('/v1/claims/batch', {
      method: 'POST',
      headers: { authorization: 'Bearer all', 'content-type': 'application/json' },
      body: JSON.stringify({ claims }),
    })
    return { it, asked, reader: (response.body as ReadableStream<Uint8Array>).getReader() }
  }

  test('is made while it is read: a hundred records are in memory, one of them as text', async () => {
    const { asked, reader } = await largeResults(450)
    expect(asked).toEqual([])
    let [bytes, largest, head] = [0, 0, '']
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      // What was asked of the store is never more than one slice ahead of what was taken.
      expect(asked.length).toBeLessThanOrEqual(1 + Math.ceil(bytes / (100 * result.length)))
      if (head === '') head = Buffer.from(next.value.slice(0, 100)).toString()
      bytes += next.value.length
      largest = Math.max(largest, next.value.length)
    }
    expect(asked).toEqual([100, 100, 100, 100, 50])
    expect(head).toMatch(/^\{"decisions":\[\{"outcome":"duplicate",/)
    expect(bytes).toBeGreaterThan(450 * result.length)
    expect(largest).toBeLessThan(2 * result.length)
  })

  test('is not made on for a reader that left, and the request is over then', async () => {
    const { it, asked, reader } = await largeResults(450)
    await reader.read()
    const isOver = () => it.lines.filter(({ fields }) => fields['route'] === '/v1/claims/batch').length
    expect(isOver()).toBe(0)
    await reader.cancel()
    expect([isOver(), asked]).toEqual([1, [100]])
  })

  test('ends its grants where the key is revoked meanwhile', async () => {
    const { it, reader } = await largeResults(150)
    await reader.read()
    it.keys.delete('all')
    let text = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      text = Buffer.from(next.value).toString()
    }
    expect(text).toMatch(/"code":"unauthenticated".{0,300}\]\}$/)
  })
})

test('settlements of one record are applied in the order given', async () => {
  const it = memoryApp()
  const claimed = await claimAll(it, [
    claimBody('a', { claim_token: tokenOf(1) }),
    claimBody('b', { claim_token: tokenOf(2) }),
  ])
  const [a, b] = claimed.json.decisions
  const answer = await settleAll(it, [
    { id: a.id, action: 'extend', claim_token: tokenOf(1), lease_ms: 86_400_000 },
    { id: a.id, action: 'fail', claim_token: tokenOf(1), error: { message: 'm' } },
    { id: b.id, action: 'complete', claim_token: tokenOf(2) },
    { id: a.id, action: 'complete', claim_token: tokenOf(1) },
    { id: b.id, action: 'complete', claim_token: tokenOf(1) },
    { id: b.id, action: 'explode', claim_token: tokenOf(1) },
    { id: 7, action: 'complete', claim_token: tokenOf(1) },
    { id: 'rec_1', action: 'complete', claim_token: tokenOf(1) },
    { action: 'complete' },
    'text',
  ])
  settlementsResponseSchema.parse(answer.json)
  expect(outcomesOf(answer)).toEqual([
    true,
    true,
    true,
    'already_settled',
    'stale_claim',
    'invalid_request',
    'invalid_request',
    'not_found',
    'invalid_request',
    'invalid_request',
  ])
  const [extended, failed, completed, , stale] = answer.json.results
  expect(extended).toEqual({ ok: true, lease_expires_at: '2026-12-01T10:00:00.000Z', lease_remaining_ms: 86_400_000 })
  expect([failed.record.state, completed.record.state]).toEqual(['failed', 'completed'])
  expect(stale.problem.current).toMatchObject({ id: b.id, state: 'completed' })
})

test('a store failure of settlements is said per item', async () => {
  const it = memoryApp()
  const claimed = await claimAll(it, [claimBody('a', { claim_token: tokenOf(1) })])
  it.deps.ledger.store.completeClaimed = async () => {
    throw new StoreError('store_unavailable', 'cut')
  }
  const [{ id }] = claimed.json.decisions
  const answer = await settleAll(it, [{ id, action: 'complete', claim_token: tokenOf(1) }, { id }])
  expect(outcomesOf(answer)).toEqual(['store_unavailable', 'invalid_request'])
})
