import { classHistorySchema, classListSchema, classSchema } from '@ranbook/contract'
import { defaultPolicy } from '@ranbook/rules'
import { describe, expect, test } from 'vitest'
import { expectProblem } from '../http/expect-problem.ts'
import { coldApp } from './cold-app.ts'

const app = await coldApp()
const { request, claim, mint } = app

const at = (name: string, rest = '') => `/v1/classes/${encodeURIComponent(name)}${rest}`
const put = (name: string, body: unknown, headers: Record<string, string> = {}) =>
  request('PUT', at(name), { body, headers })

describe('PUT /v1/classes/{name}', () => {
  test('creates with 201, replaces with 200, and absent fields take their defaults', async () => {
    const created = await put('a.created', { lease_ms: 5000, max_attempts: 3, reason: 'first' })
    expect(created.status).toBe(201)
    expect(created.headers.get('etag')).toBe('"1"')
    expect(classSchema.parse(created.json)).toMatchObject({
      name: 'a.created',
      version: 1,
      matched: 'a.created',
      reviewed: true,
      updated_by: 'key:admin',
      ...defaultPolicy,
      lease_ms: 5000,
      max_attempts: 3,
    })
    const replaced = await put('a.created', { backoff: { factor: 3 } })
    expect(replaced.status).toBe(200)
    expect(replaced.headers.get('etag')).toBe('"2"')
    expect(replaced.json).toMatchObject({
      version: 2,
      lease_ms: 60_000,
      max_attempts: 10,
      backoff: { initial_ms: 1000, factor: 3, max_ms: 300_000 },
    })
    const got = await request('GET', at('a.created'))
    expect(got.headers.get('etag')).toBe('"2"')
    expect(got.json).toEqual(replaced.json)
  })

  test('takes back what GET answered, read-only fields and all', async () => {
    await put('a.round', { lease_ms: 7000, accept_short_retention: false })
    const { json } = await request('GET', at('a.round'))
    const again = await put('a.round', { ...json, version: 'nonsense', reviewed: null, lease_ms: 8000 })
    expect(again.status).toBe(200)
    expect(again.json).toMatchObject({ name: 'a.round', version: 2, lease_ms: 8000, reviewed: true })
  })

  test('is in force for the very next claim', async () => {
    await put('a.*', { lease_ms: 4000 })
    expect(await claim({ class: 'a.next', consumer: 'x', key: '1' })).toMatchObject({ lease_remaining_ms: 4000 })
    await put('a.next', { lease_ms: 9000 })
    expect(await claim({ class: 'a.next', consumer: 'x', key: '2' })).toMatchObject({ lease_remaining_ms: 9000 })
  })

  test.each([
    { body: { leaseMs: 1 }, path: 'leaseMs' },
    { body: { lease_ms: 999 }, path: 'lease_ms' },
    { body: { lease_ms: 86_400_001 }, path: 'lease_ms' },
    { body: { lease_ms: 1000.5 }, path: 'lease_ms' },
    { body: { lease_ms: '1000' }, path: 'lease_ms' },
    { body: { max_attempts: 0 }, path: 'max_attempts' },
    { body: { on_lease_expiry: 'wait' }, path: 'on_lease_expiry' },
    { body: { backoff: { factor: 0.5 } }, path: 'backoff.factor' },
    { body: { fingerprint: { exclude: ['id'] } }, path: 'fingerprint' },
    { body: { reason: '' }, path: 'reason' },
    { body: { consumers: [] }, path: 'consumers' },
  ])('refuses $body and names $path', async ({ body, path }) => {
    const problem = expectProblem(await put('a.refused', body), 'invalid_request')
    expect(problem.errors?.map((fault) => fault.path.split(/[.[]/)[0])).toContain(path.split('.')[0])
    expect((await request('GET', at('a.refused'))).json.version).toBeNull()
  })

  test.each([
    { body: { ordering: 'track' }, code: 'not_available' },
    { body: { source_preset: 'stripes' }, code: 'invalid_policy' },
    { body: { source_preset: 'stripe', key_retention_ms: 86_400_000 }, code: 'retention_below_horizon' },
    { body: { source_preset: 'stripe', store: 'window' }, code: 'retention_below_horizon' },
    { body: { source_preset: 'kafka', key_retention_ms: 86_400_000 }, code: 'horizon_required' },
    {
      body: { source_preset: 'kafka', key_retention_ms: 86_400_000, accept_short_retention: true },
      code: 'horizon_required',
    },
    { body: { replay_target: { url: 'https://example.com' } }, code: 'invalid_policy' },
    {
      body: { replay_target: { url: 'http://169.254.169.254/', secret: `whsec_${'A'.repeat(32)}` } },
      code: 'target_refused',
    },
    { body: { store: 'window', on_lease_expiry: 'hold' }, code: 'invalid_policy' },
    { body: { backoff: { initial_ms: 5000, max_ms: 100 } }, code: 'invalid_policy' },
  ] as const)('refuses $body as $code', async ({ body, code }) => {
    expectProblem(await put('a.refused', body), code)
  })

  test.each(['not json', '[]', 'null', '{"lease_ms":1000,"lease_ms":2000}'])('refuses the body %s', async (body) => {
    expect((await put('a.refused', body)).status).toBe(400)
  })
})

test('a retention below the horizon of the source names both, and is taken where it is accepted on purpose', async () => {
  const policy = { source_preset: 'stripe', key_retention_ms: 86_400_000 }
  const refused = await put('a.short', policy)
  expectProblem(refused, 'retention_below_horizon')
  expect(refused.json.detail).toMatch(/24 h.*3 d.*accept_short_retention: true/)
  expect((await put('a.short', { ...policy, accept_short_retention: true })).status).toBe(201)
  expect((await put('a.long', { ...policy, key_retention_ms: 3 * 86_400_000 })).status).toBe(201)
})

test.each(['\u0000', 'a\u0000', '\u007f', '', 'n'.repeat(201), '\ud7ff\u0085'])(
  'a cursor that holds what no name, id or number does is refused by every list: %j',
  async (last) => {
    const cursor = Buffer.from(last).toString('base64url')
    for (const path of ['/v1/classes', at('a.b', '/history'), '/v1/api-keys', '/v1/records']) {
      const answer = await request('GET', `${path}?cursor=${cursor}`)
      expectProblem(answer, cursor === '' ? 'invalid_request' : 'invalid_cursor')
    }
  },
)

describe('If-Match', () => {
  test.each([
    { header: '"1"', status: 412 },
    { header: 'W/"2"', status: 412 },
    { header: '"abc"', status: 412 },
    { header: '2', status: 412 },
    { header: '"3"', status: 412 },
    { header: '"1", "2"', status: 200 },
    { header: '"2"', status: 200 },
    { header: '*', status: 200 },
  ])('$header over version 2: $status', async ({ header, status }) => {
    const name = `match ${header}`
    await put(name, { lease_ms: 1000 })
    await put(name, { lease_ms: 2000 })
    const answer = await put(name, { lease_ms: 3000 }, { 'if-match': header })
    expect(answer.status).toBe(status)
    if (status === 412) expectProblem(answer, 'precondition_failed')
    expect((await request('GET', at(name))).json.version).toBe(status === 412 ? 2 : 3)
  })

  test.each(['*', '"1"'])('%s where no policy stands is 412 and creates nothing', async (header) => {
    expectProblem(await put('match.absent', {}, { 'if-match': header }), 'precondition_failed')
    expect((await request('GET', at('match.absent'))).json.version).toBeNull()
  })

  test('holds for DELETE too', async () => {
    await put('match.deleted', {})
    expectProblem(
      await request('DELETE', at('match.deleted'), { headers: { 'if-match': '"7"' } }),
      'precondition_failed',
    )
    expect((await request('DELETE', at('match.deleted'), { headers: { 'if-match': '"1"' } })).status).toBe(204)
  })

  test('of twelve at once over one version lets one through', async () => {
    await put('match.race', {})
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => put('match.race', { lease_ms: 1000 + n }, { 'if-match': '"1"' })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(11)
  })
})

describe('GET, DELETE, history and review', () => {
  test('a class without an own policy answers the one in force, without an ETag', async () => {
    await put('g.*', { lease_ms: 3000 })
    const answer = await request('GET', at('g.one'))
    expect(classSchema.parse(answer.json)).toMatchObject({
      name: 'g.one',
      version: null,
      updated_at: null,
      matched: 'g.*',
      reviewed: false,
      lease_ms: 3000,
    })
    expect(answer.headers.has('etag')).toBe(false)
    expect((await request('GET', at('other'))).json).toMatchObject({ matched: null, lease_ms: 60_000 })
  })

  test('DELETE is 204, then 404, and keeps the reason', async () => {
    await put('g.deleted', {})
    const answer = await request('DELETE', at('g.deleted', '?reason=not%20needed'))
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' })
    expectProblem(await request('DELETE', at('g.deleted')), 'not_found')
    expectProblem(await request('DELETE', at('g.deleted', '?why=x')), 'invalid_request')
    const history = classHistorySchema.parse((await request('GET', at('g.deleted', '/history'))).json)
    expect(history.data).toMatchObject([
      { version: 2, policy: null, reason: 'not needed', by: 'key:admin' },
      { version: 1, policy: { lease_ms: 60_000 }, diff: { lease_ms: [3000, 60_000] }, reason: null },
    ])
  })

  test('history is paged, and its cursors are its own', async () => {
    for (let version = 1; version <= 5; version++) await put('g.history', { lease_ms: version * 1000 })
    const seen: number[] = []
    let cursor = ''
    do {
      const { json } = await request('GET', at('g.history', `/history?limit=2${cursor}`))
      seen.push(...json.data.map(({ version }: { version: number }) => version))
      cursor = json.next_cursor === null ? '' : `&cursor=${json.next_cursor}`
    } while (cursor !== '')
    expect(seen).toEqual([5, 4, 3, 2, 1])
    expectProblem(await request('GET', at('g.history', '/history?cursor=Zm9v')), 'invalid_cursor')
    expectProblem(await request('GET', at('g.history', '/history?limit=0')), 'invalid_request')
    expect((await request('GET', at('g.never', '/history'))).json).toEqual({ data: [], next_cursor: null })
  })

  test('review marks a class seen in claims, with or without a body', async () => {
    await claim({ class: 'g.seen', consumer: 'x', key: '1' })
    expect((await request('POST', at('g.seen', '/review'))).json).toMatchObject({
      name: 'g.seen',
      reviewed: true,
      matched: 'g.*',
    })
    expect((await request('POST', at('g.seen', '/review'), { body: { reason: 'fine' } })).status).toBe(200)
    expect((await request('GET', at('g.seen'))).json.reviewed).toBe(true)
    expectProblem(await request('POST', at('g.unseen', '/review')), 'not_found')
    expectProblem(await request('POST', at('g.seen', '/review'), { body: { why: 1 } }), 'invalid_request')
  })

  test('the list holds classes seen and policies by name, in pages', async () => {
    await claim({ class: 'l.b', consumer: 'two', key: '1' })
    await claim({ class: 'l.b', consumer: 'one', key: '1' })
    await put('l.a', {})
    const key = await mint({ actions: ['read'], classes: ['l.*'] })
    const first = classListSchema.parse((await request('GET', '/v1/classes?limit=1', { key })).json)
    expect(first.data).toMatchObject([{ name: 'l.a', version: 1, consumers: [], first_seen_at: null }])
    const second = classListSchema.parse(
      (await request('GET', `/v1/classes?limit=1&cursor=${first.next_cursor}`, { key })).json,
    )
    expect(second.data).toMatchObject([{ name: 'l.b', version: null, reviewed: false, consumers: ['one', 'two'] }])
    expect(second.next_cursor).toBeNull()
    expectProblem(await request('GET', '/v1/classes?cursor=%2A', { key }), 'invalid_cursor')
    expectProblem(await request('GET', '/v1/classes?name=l.a', { key }), 'invalid_request')
  })
})

describe('a name in the path', () => {
  test.each(['a/b', '100%', 'a%2Fb', '💸', 'a b', 'ä?#&', '*', 'x*', "'", '__proto__', 'history', 'x'.repeat(200)])(
    '%j is decoded once and kept byte for byte',
    async (name) => {
      const made = await put(name, { lease_ms: 5000 })
      expect(made.json).toMatchObject({ name, version: 1 })
      expect((await request('GET', at(name))).json).toMatchObject({ name, lease_ms: 5000 })
      expect((await request('GET', at(name, '/history'))).json.data).toHaveLength(1)
      expect((await request('DELETE', at(name))).status).toBe(204)
    },
  )

  test.each(['a*b', '**', '*a', 'x'.repeat(201), 'a\u0000', 'a\u0085', 'a\n'])('%j is refused', async (name) => {
    expectProblem(await put(name, {}), 'invalid_request')
    expectProblem(await request('GET', at(name)), 'invalid_request')
  })

  test.each(['/v1/classes/%', '/v1/classes/%zz', '/v1/classes/%ff', '/v1/classes/%c3%28', '/v1/classes/%ed%a0%80'])(
    'an ill-formed escape in %s is 400',
    async (path) => {
      expectProblem(await request('GET', path), 'invalid_request')
    },
  )
})
