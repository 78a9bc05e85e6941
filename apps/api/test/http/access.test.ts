import { actions, type Route, routes } from '@ranbook/contract'
import { expect, test } from 'vitest'
import { call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { keyOf, memoryApp } from './memory-app.ts'

const all: [string, Route][] = Object.entries(routes)
const openRoutes = ['/healthz', '/readyz', '/openapi.json']

test('only health and the contract are open, and every closed route names its actions', () => {
  for (const [, { path, access }] of all) {
    if (access === 'open') expect(openRoutes).toContain(path)
    else expect(access.length).toBeGreaterThan(0)
  }
})

test.each(all.filter(([, { access }]) => access !== 'open'))(
  '%s is closed to everybody without one of its actions, on every spelling of its path',
  async (_, route) => {
    const { app, keys } = memoryApp()
    keys.set('none', keyOf('none', []))
    const path = route.path.replace(/\{\w+\}/, 'x')
    const init = route.method === 'GET' || route.method === 'DELETE' ? {} : { body: {} }
    const spellings = [path, path.replace('/v1/c', '/v1/%63'), `${path}?key=all`, `${path}?`]
    for (const spelling of spellings) {
      const anonymous = await call(app, route.method, spelling, { ...init, key: null })
      expectProblem(anonymous, 'unauthenticated')
      expect(anonymous.headers.get('www-authenticate')).toBe('Bearer')
      expectProblem(await call(app, route.method, spelling, { ...init, key: 'unheard-of' }), 'unauthenticated')
      expectProblem(await call(app, route.method, spelling, { ...init, key: 'none' }), 'forbidden')
      for (const action of actions) {
        if ((route.access as readonly string[]).includes(action)) continue
        expectProblem(await call(app, route.method, spelling, { ...init, key: action }), 'forbidden')
      }
    }
  },
)

test.each(['Basic Y2xhaW06', 'bearer', 'Bearer', 'Bearer  claim', 'claim', 'Bearer claim, Bearer all'])(
  'the credentials %j are none',
  async (authorization) => {
    const { app } = memoryApp()
    const answer = await call(app, 'POST', '/v1/claims', {
      body: claimBody('k'),
      key: null,
      headers: { authorization },
    })
    expectProblem(answer, 'unauthenticated')
  },
)

test('access is judged before the body: a stranger learns nothing of what would be valid', async () => {
  const { app } = memoryApp()
  for (const body of ['', '{', '{"nonsense":1}', claimBody('k')]) {
    expectProblem(await call(app, 'POST', '/v1/claims', { body, key: null }), 'unauthenticated')
    expectProblem(await call(app, 'POST', '/v1/claims', { body, key: 'read' }), 'forbidden')
  }
})

test('a key bound to a consumer claims for it without naming it, and for no other', async () => {
  const { app } = memoryApp()
  const { consumer: _, ...unnamed } = claimBody('k')
  const claimed = await call(app, 'POST', '/v1/claims', { body: unnamed, key: 'bound' })
  expect([claimed.status, claimed.json.consumer]).toEqual([201, 'bound'])
  expect(
    (await call(app, 'POST', '/v1/claims', { body: { ...unnamed, consumer: 'bound' }, key: 'bound' })).status,
  ).toBe(409)
  expectProblem(await call(app, 'POST', '/v1/claims', { body: claimBody('k'), key: 'bound' }), 'forbidden')
  const missing = expectProblem(
    await call(app, 'POST', '/v1/claims', { body: unnamed, key: 'claim' }),
    'invalid_request',
  )
  expect(missing.errors).toMatchObject([{ path: 'consumer' }])
})

test('a key claims only classes it covers, in batches item by item', async () => {
  const { app } = memoryApp()
  const outside = claimBody('k', { class: 'page.viewed' })
  expect((await call(app, 'POST', '/v1/claims', { body: claimBody('k'), key: 'refunds' })).status).toBe(201)
  expectProblem(await call(app, 'POST', '/v1/claims', { body: outside, key: 'refunds' }), 'forbidden')
  const batch = await call(app, 'POST', '/v1/claims/batch', {
    body: { claims: [outside, claimBody('k2'), claimBody('k3', { consumer: 'other' })] },
    key: 'refunds',
  })
  expect(batch.json.decisions.map((item) => item.problem?.code ?? item.outcome)).toEqual([
    'forbidden',
    'claimed',
    'claimed',
  ])
})

test.each(['complete', 'fail', 'extend', 'release'])(
  '%s of a record outside the scope and of no record look the same',
  async (verb) => {
    const { app, store } = memoryApp()
    const error = verb === 'fail' ? { error: { message: 'm' } } : {}
    const claimed = await call(app, 'POST', '/v1/claims', { body: claimBody('k', { class: 'page.viewed' }) })
    const foreign = { claim_token: claimed.json.claim_token, ...error }
    const paths = [
      claimed.json.id,
      `rec_${'0'.repeat(32)}`,
      'win_1',
      'rec_',
      '{id}',
      'REC_',
      '..',
      '%2e%2e',
      `rec_${'A'.repeat(32)}`,
    ]
    const answers = []
    for (const key of ['refunds', 'bound']) {
      for (const id of paths) {
        const answer = await call(app, 'POST', `/v1/claims/${id}/${verb}`, { body: foreign, key })
        const { request_id: _, ...problem } = expectProblem(answer, 'not_found')
        if (id !== '..' && id !== '%2e%2e') answers.push(problem)
      }
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    const [standing] = await store.read([{ digest: claimed.json.id.slice(4), claimToken: null }])
    expect(standing?.record).toMatchObject({ state: 'claimed', version: 1 })

    const body = { settlements: paths.map((id) => ({ id, action: verb, ...foreign })) }
    const batch = await call(app, 'POST', '/v1/settlements', { body, key: 'refunds' })
    expect(batch.json.results.map((item) => item.problem.code)).toEqual(paths.map(() => 'not_found'))
  },
)

test('a token of somebody else settles nothing, even with the right key', async () => {
  const { app } = memoryApp()
  const claimed = await call(app, 'POST', '/v1/claims', {
    body: claimBody('k', { claim_token: tokenOf(1), owner: 'me' }),
  })
  for (const verb of ['complete', 'extend', 'release']) {
    const answer = await call(app, 'POST', `/v1/claims/${claimed.json.id}/${verb}`, {
      body: { claim_token: tokenOf(2) },
    })
    const problem = expectProblem(answer, 'stale_claim')
    expect(problem.current).toMatchObject({ id: claimed.json.id, state: 'claimed', owner: 'me' })
    expect(answer.text).not.toContain(tokenOf(1))
  }
})
