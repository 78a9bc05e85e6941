import { apiKeyCreatedSchema, apiKeyListSchema, meSchema } from '@ranbook/contract'
import { describe, expect, test } from 'vitest'
import { expectProblem } from '../http/expect-problem.ts'
import { coldApp } from './cold-app.ts'

const app = await coldApp()
const { request, mint } = app

const scopes = { actions: ['read'], classes: ['refund.*'] }
const create = (body: unknown, key?: string) =>
  request('POST', '/v1/api-keys', { body, ...(key === undefined ? {} : { key }) })

test('a key is made, shown once, used, listed without its secret, and revoked', async () => {
  const created = await create({ name: 'billing', scopes: { ...scopes, consumer: 'billing-worker' } })
  expect(created.status).toBe(201)
  expect(created.headers.get('cache-control')).toBe('no-store')
  const { secret, ...view } = apiKeyCreatedSchema.parse(created.json)
  expect(view).toMatchObject({
    name: 'billing',
    scopes: { actions: ['read'], classes: ['refund.*'], consumer: 'billing-worker' },
    created_by: 'key:admin',
    expires_at: null,
    revoked_at: null,
  })

  const me = await request('GET', '/v1/me', { key: secret })
  expect(meSchema.parse(me.json)).toEqual({
    actor: `key:${view.id}`,
    name: 'billing',
    actions: ['read'],
    classes: ['refund.*'],
    consumer: 'billing-worker',
  })

  const list = await request('GET', '/v1/api-keys')
  expect(apiKeyListSchema.parse(list.json).data.map(({ id }) => id)).toContain(view.id)
  expect(list.text).not.toContain(secret.slice(15))

  expect((await request('DELETE', `/v1/api-keys/${view.id}`)).status).toBe(204)
  expectProblem(await request('GET', '/v1/me', { key: secret }), 'unauthenticated')
  expectProblem(await request('DELETE', `/v1/api-keys/${view.id}`), 'not_found')
  const after = apiKeyListSchema.parse((await request('GET', '/v1/api-keys')).json)
  expect(after.data.find(({ id }) => id === view.id)?.revoked_at).not.toBeNull()
})

test('the list is newest first and paged', async () => {
  const made: string[] = []
  for (let at = 0; at < 5; at++) {
    made.unshift((await create({ name: `page ${at}`, scopes })).json.id)
    await app.sql`UPDATE api_key SET created_at = created_at + ${at + 1} * interval '1 hour' WHERE id = ${made[0] as string}`
  }
  const seen: string[] = []
  let cursor = ''
  do {
    const page = apiKeyListSchema.parse((await request('GET', `/v1/api-keys?limit=2${cursor}`)).json)
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
  } while (cursor !== '')
  expect(seen.slice(0, 5)).toEqual(made)
  expect(new Set(seen).size).toBe(seen.length)
  expectProblem(await request('GET', '/v1/api-keys?cursor=bm9ib2R5'), 'invalid_cursor')
  expectProblem(await request('GET', '/v1/api-keys?name=x'), 'invalid_request')
})

test('a key with an end is refused after it', async () => {
  const made = await create({ name: 'short', scopes, expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  const { secret, id } = made.json
  expect((await request('GET', '/v1/me', { key: secret })).status).toBe(200)
  await app.sql`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = ${id}`
  // What was written past the service counts with the next change it makes.
  await create({ name: 'another', scopes })
  expectProblem(await request('GET', '/v1/me', { key: secret }), 'unauthenticated')
})

describe('a request for a key is refused', () => {
  const name = 'k'
  test.each([
    { body: {}, path: 'name' },
    { body: { name }, path: 'scopes' },
    { body: { name: '', scopes }, path: 'name' },
    { body: { name, scopes: { actions: [], classes: ['*'] } }, path: 'scopes.actions' },
    { body: { name, scopes: { actions: ['write'], classes: ['*'] } }, path: 'scopes.actions[0]' },
    { body: { name, scopes: { actions: ['read'], classes: [] } }, path: 'scopes.classes' },
    { body: { name, scopes: { actions: ['read'], classes: ['ok', 'a*b'] } }, path: 'scopes.classes[1]' },
    { body: { name, scopes: { actions: ['read'], classes: ['a\u0000'] } }, path: 'scopes.classes[0]' },
    { body: { name, scopes: { ...scopes, consumer: '' } }, path: 'scopes.consumer' },
    { body: { name, scopes: { ...scopes, classs: 1 } }, path: 'scopes.classs' },
    { body: { name, scopes, expires_at: 'tomorrow' }, path: 'expires_at' },
    { body: { name, scopes, expires_at: '2020-01-01T00:00:00Z' }, path: 'expires_at' },
    { body: { name, scopes, secret: 'mine' }, path: 'secret' },
  ])('$body names $path', async ({ body, path }) => {
    expect(expectProblem(await create(body), 'invalid_request').errors?.map((fault) => fault.path)).toContain(path)
  })
})

test('a key that would be wider than the one that makes it is 403 and says in what', async () => {
  const maker = await mint({ actions: ['admin', 'read'], classes: ['refund.*'], consumer: 'billing' })
  const within = { actions: ['read'], classes: ['refund.issued'], consumer: 'billing' }
  expect((await create({ name: 'narrow', scopes: within }, maker)).status).toBe(201)
  const wider = [
    [{ ...within, actions: ['claim'] }, /the action claim/],
    [{ ...within, classes: ['*'] }, /the class \*/],
    [{ ...within, consumer: 'other' }, /the consumer other/],
    [{ actions: ['read'], classes: ['refund.issued'] }, /every consumer/],
  ] as const
  for (const [asked, says] of wider) {
    const problem = expectProblem(await create({ name: 'wide', scopes: asked }, maker), 'forbidden')
    expect(problem.detail).toMatch(says)
  }
})
