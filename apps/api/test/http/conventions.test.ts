import { errorCodes, type Route, routes } from '@ranbook/contract'
import { expect, test } from 'vitest'
import { call } from './call.ts'
import { claimBody } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { listeningApp } from './listening-app.ts'
import { memoryApp } from './memory-app.ts'

const all: [string, Route][] = Object.entries(routes)

test.each([
  '/v1',
  '/v1/',
  '/v1/nothing',
  '/v1/claims/',
  '/v1/claims/batch/',
  '/V1/claims',
  '/v1/Claims',
  '//v1/claims',
  '/v1//claims',
  '/v1%2Fclaims',
  '/v1/claims%2Fbatch',
  '/v1/claims%00',
  '/v1/claims;a=b',
  '/v1/claims.json',
  '/.env',
  '/healthz/',
  '/HEALTHZ',
])('POST %s leads nowhere: 404, whoever asks', async (path) => {
  const { app } = memoryApp()
  for (const key of [null, 'all'])
    expectProblem(await call(app, 'POST', path, { body: claimBody('k'), key }), 'not_found')
})

test.each([
  '/v1/records/%',
  '/v1/records/%zz',
  '/v1/records/%E4%A2',
  '/v1/claims/%c3/complete',
  '/%ff',
  '/v1/classes/%C0%80',
])('a path with the ill-formed escape %s is 400, never a 500', async (path) => {
  const { app } = memoryApp()
  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
    expectProblem(await call(app, method, path, method === 'GET' ? {} : { body: {} }), 'invalid_request')
  }
})

test.each(all)('%s: another method on its path is 405 and Allow lists those it takes', async (_, route) => {
  const { app } = memoryApp()
  const path = route.path.replace(/\{\w+\}/, 'x')
  const answer = await call(app, 'PATCH', path, { body: {}, key: null })
  expectProblem(answer, 'method_not_allowed')
  const allowed = (answer.headers.get('allow') ?? '').split(', ')
  expect(allowed).toContain(route.method)
  expect(allowed).toContain('OPTIONS')
  expect(allowed.includes('HEAD')).toBe(allowed.includes('GET'))
})

test('OPTIONS names the methods of a path and is 404 where there is nothing', async () => {
  const { app } = memoryApp()
  const known = await call(app, 'OPTIONS', '/v1/claims', { key: null })
  expect([known.status, known.text, known.headers.get('allow')]).toEqual([204, '', 'POST, OPTIONS'])
  expectProblem(await call(app, 'OPTIONS', '/v1/nothing', { key: null }), 'not_found')
})

test('HEAD answers as GET does, without a body', async () => {
  const { app } = memoryApp()
  for (const path of ['/healthz', '/docs', '/metrics']) {
    const [get, head] = [await call(app, 'GET', path), await call(app, 'HEAD', path)]
    expect([head.status, head.text]).toEqual([get.status, ''])
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  }
  expect((await call(app, 'HEAD', '/v1/claims')).status).toBe(405)
})

test.each([
  ['text/plain', {}],
  ['application/x-www-form-urlencoded', {}],
  ['application/json; charset=latin1', {}],
  ['application/json; charset=utf-16', {}],
  ['application/jsonx', {}],
  ['', {}],
  ['application/json', { 'content-encoding': 'gzip' }],
  ['application/json', { 'content-encoding': 'br' }],
])('a body of type %j with %j is 415', async (type, headers) => {
  const { app } = memoryApp()
  const answer = await call(app, 'POST', '/v1/claims', { body: '{}', headers: { 'content-type': type, ...headers } })
  expectProblem(answer, 'unsupported_media_type')
})

test.each([
  'application/json',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'APPLICATION/JSON ; charset="utf-8"',
])('a body of type %s is taken', async (type) => {
  const { app } = memoryApp()
  const answer = await call(app, 'POST', '/v1/claims', {
    body: claimBody('k'),
    headers: { 'content-type': type, 'content-encoding': 'identity' },
  })
  expect(answer.status).toBe(201)
})

test.each(['client-id', '!', '~'.repeat(128), 'a/b?c=%20'])(
  'a request id of visible ASCII is taken up: %s',
  async (id) => {
    const { app } = memoryApp()
    const answer = await call(app, 'GET', '/healthz', { headers: { 'x-request-id': id } })
    expect(answer.headers.get('x-request-id')).toBe(id)
  },
)

test.each(['', 'a b', 'é', '~'.repeat(129), 'tab\there'])('any other request id is replaced: %j', async (id) => {
  const { app } = memoryApp()
  const answer = await call(app, 'GET', '/healthz', { headers: { 'x-request-id': id } })
  expect(answer.headers.get('x-request-id')).toBe('request-1')
})

test.each([
  [{ leaseMs: 1, foo: 2 }, ['leaseMs', 'foo']],
  [{ __proto__x: 1, 'a.b': 1 }, ['__proto__x', 'a.b']],
])('unknown fields are refused by name: %j', async (more, names) => {
  const { app } = memoryApp()
  const problem = expectProblem(
    await call(app, 'POST', '/v1/claims', { body: claimBody('k', more) }),
    'invalid_request',
  )
  expect(problem.errors).toEqual(names.map((path) => ({ path, message: 'unknown field' })))
  expect(problem.detail).toContain(names[0])
})

test('members named __proto__ and constructor are unknown fields like any other', async () => {
  const { app } = memoryApp()
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const body = `{"class":"a","consumer":"b","key":"k","${name}":{"x":1}}`
    const problem = expectProblem(await call(app, 'POST', '/v1/claims', { body }), 'invalid_request')
    expect(problem.errors).toEqual([{ path: name, message: 'unknown field' }])
  }
})

test('every fault is named where it is', async () => {
  const { app } = memoryApp()
  const body = { consumer: 7, key: '', lease_ms: 1.5, refs: ['ok', 'a\u0000'], claim_token: 'x', occurred_at: 'today' }
  const problem = expectProblem(await call(app, 'POST', '/v1/claims', { body }), 'invalid_request')
  expect(problem.errors?.map(({ path }) => path).sort()).toEqual(
    ['claim_token', 'class', 'consumer', 'key', 'lease_ms', 'occurred_at', 'refs[1]'].sort(),
  )
  for (const { message } of problem.errors ?? []) expect(message.length).toBeLessThan(120)
})

test('a failing service answers 500 with a problem that tells nothing of the failure, and logs it once', async () => {
  const { app, deps, lines } = memoryApp()
  deps.ledger.store.insertIfAbsent = async () => {
    throw new TypeError('SELECT secret FROM rows failed at /srv/app.ts:1:1')
  }
  const answer = await call(app, 'POST', '/v1/claims', { body: claimBody('k') })
  expect(expectProblem(answer, 'internal').detail).toBe(errorCodes.internal.meaning)
  expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1)
})

test('each request is one log line of template, status, time, request id and caller, without anything it said', async () => {
  const { app, lines } = memoryApp()
  const canary = 'canary-3141'
  await call(app, 'POST', '/v1/claims', { body: claimBody(canary, { owner: canary }), headers: { 'x-canary': canary } })
  await call(app, 'GET', `/v1/records/${canary}?q=${canary}`, { key: null })
  await call(app, 'GET', `/${canary}`, { key: canary })
  await call(app, 'POST', `/v1/claims/${canary}/complete`, { body: { claim_token: canary } })
  expect(lines.map(({ fields }) => [fields['method'], fields['route'], fields['status'], fields['caller']])).toEqual([
    ['POST', '/v1/claims', 201, 'key:all'],
    ['GET', '/v1/records/{id}', 401, undefined],
    ['GET', '(unknown)', 404, undefined],
    ['POST', '/v1/claims/{id}/complete', 400, 'key:all'],
  ])
  for (const { message, fields } of lines) {
    expect(message).toBe('request')
    expect(fields['request_id']).toMatch(/^request-\d$/)
    expect(fields['duration_ms']).toBeTypeOf('number')
    expect(JSON.stringify(fields)).not.toContain(canary)
  }
})

test('a failure around the routes is a problem and a log line too, in the app and before it', async () => {
  const it = memoryApp()
  it.deps.metrics.observeRequest = () => {
    throw new TypeError('no such series')
  }
  expectProblem(await call(it.app, 'GET', '/healthz'), 'internal')
  const server = await listeningApp(it)
  expectProblem(await call(server.url, 'GET', '/healthz'), 'internal')
  expect(it.lines.filter(({ level }) => level === 'error')).toHaveLength(2)

  it.app.fetch = () => {
    throw new TypeError('no app')
  }
  const broken = await listeningApp(it)
  // What is no route goes through the app in any case.
  expectProblem(await call(broken.url, 'GET', '/nowhere'), 'internal')
  expect(it.lines.filter(({ level }) => level === 'error')).toHaveLength(3)
})
