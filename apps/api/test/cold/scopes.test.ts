import { type Action, actions } from '@ranbook/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { coldApp } from './cold-app.ts'

const app = await coldApp()
const { request, claim, mint } = app

const own = { class: 'mx.own', consumer: 'own' }
let recordId = ''

beforeAll(async () => {
  const { id, claim_token } = await claim({ ...own, key: 'k' })
  await request('POST', `/v1/claims/${id}/fail`, { body: { claim_token, error: { message: 'no' }, retryable: false } })
  recordId = id
})

const classScopes = [
  { classes: ['mx.own'], covers: true },
  { classes: ['mx.*'], covers: true },
  { classes: ['other', '*'], covers: true },
  { classes: ['mx.other'], covers: false },
  { classes: ['mx.own.*'], covers: false },
  { classes: ['MX.own', 'mx.o'], covers: false },
]
const consumerScopes = [
  { consumer: null, covers: true },
  { consumer: 'own', covers: true },
  { consumer: 'other', covers: false },
]

const keys = actions.flatMap((action) =>
  classScopes.flatMap((classScope) =>
    consumerScopes.map((consumerScope) => ({
      action,
      classes: classScope.classes,
      consumer: consumerScope.consumer,
      seesClass: classScope.covers,
      seesRecord: classScope.covers && consumerScope.covers,
      seesAllConsumers: consumerScope.consumer === null,
    })),
  ),
)
type Key = (typeof keys)[number]

/** What the protocol says each call answers; everything not said is refused. */
const may = (key: Key, allowed: readonly Action[], status: number): number =>
  allowed.includes(key.action) ? status : 403

const calls: { call: string; run: (secret: string) => Promise<number>; expected: (key: Key) => number }[] = [
  {
    call: 'GET a record',
    run: async (key) => (await request('GET', `/v1/records/${recordId}`, { key })).status,
    expected: (key) => may(key, ['read', 'claim'], key.seesRecord ? 200 : 404),
  },
  {
    call: 'resolve a record',
    run: async (key) => {
      const body = { decision: 'dead', reason: 'matrix' }
      return (await request('POST', `/v1/records/${recordId}/resolve`, { key, body })).status
    },
    expected: (key) => may(key, ['operate'], key.seesRecord ? 200 : 404),
  },
  {
    call: 'GET a class',
    run: async (key) => (await request('GET', '/v1/classes/mx.own', { key })).status,
    expected: (key) => may(key, ['read'], key.seesClass ? 200 : 404),
  },
  {
    call: 'GET the history of a class',
    run: async (key) => (await request('GET', '/v1/classes/mx.own/history', { key })).status,
    expected: (key) => may(key, ['read'], key.seesClass ? 200 : 404),
  },
  {
    call: 'PUT a class',
    run: async (key) => (await request('PUT', '/v1/classes/mx.own', { key, body: {} })).status,
    expected: (key) => may(key, ['admin'], key.seesClass && key.seesAllConsumers ? 200 : 403),
  },
  {
    call: 'review a class',
    run: async (key) => (await request('POST', '/v1/classes/mx.own/review', { key })).status,
    expected: (key) => may(key, ['admin'], key.seesClass && key.seesAllConsumers ? 200 : 403),
  },
  {
    call: 'DELETE a class',
    run: async (key) => (await request('DELETE', '/v1/classes/mx.own', { key })).status,
    expected: (key) => may(key, ['admin'], key.seesClass && key.seesAllConsumers ? 204 : 403),
  },
  {
    call: 'revoke an API key',
    run: async (key) => {
      const scopes = { actions: ['claim'], classes: [own.class], consumer: own.consumer }
      const { json } = await request('POST', '/v1/api-keys', { body: { name: 'victim', scopes } })
      return (await request('DELETE', `/v1/api-keys/${json.id}`, { key })).status
    },
    expected: (key) => may(key, ['admin'], key.seesRecord ? 204 : 404),
  },
  {
    call: 'ask who it is',
    run: async (key) => (await request('GET', '/v1/me', { key })).status,
    expected: () => 200,
  },
]

describe('one action, a class scope and a consumer scope let a key do exactly what they say', () => {
  test.each(keys)('$action on $classes for $consumer', async (key) => {
    await request('PUT', '/v1/classes/mx.own', { body: {} })
    const secret = await mint({ actions: [key.action], classes: key.classes, consumer: key.consumer })
    const answers: Record<string, number> = {}
    const expected: Record<string, number> = {}
    for (const { call, run, expected: expect } of calls) {
      answers[call] = await run(secret)
      expected[call] = expect(key)
    }
    expect(answers).toEqual(expected)
  })

  test.each(keys)('$action on $classes for $consumer sees in lists and lookups only what it may', async (key) => {
    const secret = await mint({ actions: [key.action], classes: key.classes, consumer: key.consumer })
    const get = (path: string) => request('GET', path, { key: secret })

    const list = await get('/v1/records')
    const found = await get('/v1/lookup?q=k')
    const byId = await get(`/v1/lookup?q=${recordId}`)
    const classes = await get('/v1/classes')
    expect([list, found, byId, classes].map(({ status }) => status)).toEqual([
      may(key, ['read'], 200),
      may(key, ['read', 'claim'], 200),
      may(key, ['read', 'claim'], 200),
      may(key, ['read'], 200),
    ])
    const count = key.seesRecord ? 1 : 0
    if (list.status === 200) expect(list.json.data).toHaveLength(count)
    for (const answer of [found, byId]) {
      if (answer.status === 200) expect(answer.json.records).toHaveLength(count)
    }
    if (classes.status === 200) {
      const row = classes.json.data.find(({ name }: { name: string }) => name === own.class)
      expect(row?.consumers).toEqual(key.seesClass ? (key.seesRecord ? ['own'] : []) : undefined)
    }
  })
})

test('a key without any action may do nothing', async () => {
  const secret = await mint({ actions: ['read'] })
  await app.sql`UPDATE api_key SET scopes = '{"actions":[],"classes":["*"],"consumer":null}' WHERE id = ${secret.slice(4, 14)}`
  await mint({ actions: ['read'] })
  for (const path of [
    '/v1/records',
    '/v1/lookup?q=k',
    `/v1/records/${recordId}`,
    '/v1/classes',
    '/v1/api-keys',
    '/metrics',
    '/v1/me',
  ]) {
    expect((await request('GET', path, { key: secret })).status).toBe(403)
  }
})
