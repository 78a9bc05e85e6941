import { fullRecordSchema, recordListSchema } from '@ranbook/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectProblem } from '../http/expect-problem.ts'
import { coldApp } from './cold-app.ts'

const app = await coldApp()
const { request, claim, expire, mint } = app

const settle = (id: string, verb: string, body: unknown) => request('POST', `/v1/claims/${id}/${verb}`, { body })

async function list(parameters: Record<string, string>, key?: string) {
  const answer = await request(
    'GET',
    `/v1/records?${new URLSearchParams(parameters)}`,
    key === undefined ? {} : { key },
  )
  expect(answer.status).toBe(200)
  return recordListSchema.parse(answer.json)
}

const keysOf = (page: Awaited<ReturnType<typeof list>>) => page.data.map(({ key }) => key)

describe('the list of records', () => {
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    await request('PUT', '/v1/classes/charge.made', { body: { on_lease_expiry: 'hold' } })
    const made = [
      { class: 'mail.sent', consumer: 'mailer', key: 'a:1', refs: ['cust_1'], source: 'shop', seq: 1 },
      { class: 'mail.sent', consumer: 'mailer', key: 'a:2', refs: ['cust_1', 'cust_2'] },
      { class: 'mail.sent', consumer: 'auditor', key: 'a_3', payload: { secret: 1 } },
      { class: 'charge.made', consumer: 'billing', key: 'b:1', source: 'shop', seq: 2 },
      { class: 'charge.made', consumer: 'billing', key: 'b:2' },
    ]
    for (const fields of made) {
      const answer = await claim(fields)
      ids[fields.key] = answer.id
      if (fields.key === 'a:1')
        await settle(answer.id, 'complete', { claim_token: answer.claim_token, result: ['kept'] })
    }
    await expire(ids['b:1'] as string)
  })

  test('is newest first and says of each what a record says, without its result', async () => {
    const page = await list({})
    expect(keysOf(page)).toEqual(['b:2', 'b:1', 'a_3', 'a:2', 'a:1'])
    expect(page.next_cursor).toBeNull()
    const row = page.data[4]
    expect(row).toMatchObject({
      id: ids['a:1'],
      state: 'completed',
      has_result: true,
      refs: ['cust_1'],
      source: 'shop',
      seq: '1',
    })
    expect(row).not.toHaveProperty('result')
  })

  test.each([
    { filter: { class: 'mail.sent' }, keys: ['a_3', 'a:2', 'a:1'] },
    { filter: { consumer: 'mailer' }, keys: ['a:2', 'a:1'] },
    { filter: { class: 'mail.sent', consumer: 'auditor' }, keys: ['a_3'] },
    { filter: { state: 'claimed' }, keys: ['b:2', 'a_3', 'a:2'] },
    { filter: { state: 'held' }, keys: ['b:1'] },
    { filter: { state: 'completed' }, keys: ['a:1'] },
    { filter: { key_prefix: 'a:' }, keys: ['a:2', 'a:1'] },
    { filter: { key_prefix: 'a_' }, keys: ['a_3'] },
    { filter: { ref: 'cust_1' }, keys: ['a:2', 'a:1'] },
    { filter: { ref: 'cust_2', key_prefix: 'a' }, keys: ['a:2'] },
    { filter: { source: 'shop' }, keys: ['b:1', 'a:1'] },
    { filter: { class: 'nothing' }, keys: [] },
  ])('filtered by $filter holds $keys', async ({ filter, keys }) => {
    expect(keysOf(await list(filter))).toEqual(keys)
  })

  test('filtered by time holds what was first claimed from then, and before then', async () => {
    const all = (await list({})).data
    const at = all[2]?.first_claimed_at as string
    expect(keysOf(await list({ from: at }))).toEqual(
      all.filter((row) => row.first_claimed_at >= at).map(({ key }) => key),
    )
    expect(keysOf(await list({ to: at }))).toEqual(all.filter((row) => row.first_claimed_at < at).map(({ key }) => key))
  })

  test('is limited to what the key may read, whatever is asked for', async () => {
    const mailer = await mint({ actions: ['read'], classes: ['mail.*'], consumer: 'mailer' })
    expect(keysOf(await list({}, mailer))).toEqual(['a:2', 'a:1'])
    expect(keysOf(await list({ class: 'charge.made' }, mailer))).toEqual([])
    expect(keysOf(await list({ consumer: 'billing' }, mailer))).toEqual([])
    expect(keysOf(await list({ key_prefix: 'b' }, mailer))).toEqual([])
  })

  test('is paged without repeating or skipping a row, also while rows are added', async () => {
    const before = keysOf(await list({}))
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await list({ limit: '2', ...(cursor === null ? {} : { cursor }) })
      expect(page.data.length).toBeLessThanOrEqual(2)
      seen.push(...keysOf(page))
      cursor = page.next_cursor
      await claim({ class: 'late.comer', consumer: 'x', key: `c:${seen.length}` })
    } while (cursor !== null)
    expect(seen.filter((key) => !key.startsWith('c:'))).toEqual(before)
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('pages rows of one millisecond one by one', async () => {
    const made: string[] = []
    for (let at = 0; at < 7; at++) made.push((await claim({ class: 'same.ms', consumer: 'x', key: `s:${at}` })).id)
    await app.sql`UPDATE record SET first_claimed_at = '2026-01-01T00:00:00Z' WHERE class = 'same.ms'`
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await list({ class: 'same.ms', limit: '1', ...(cursor === null ? {} : { cursor }) })
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(seen.toSorted()).toEqual(made.toSorted())
  })

  test.each([
    'limit=0',
    'limit=201',
    'limit=1.5',
    'limit=-1',
    'limit=abc',
    'limit=',
    'state=lost',
    'state=',
    'from=yesterday',
    'from=2026-02-30T00:00:00Z',
    'from=2026-01-01T00:00:00%2B01:00',
    'class=a*',
    'class=',
    'ref=%00',
    `key_prefix=${'x'.repeat(1025)}`,
    'seq=1',
    'nonsense=1',
    'limit=1&limit=2',
    'class=%ff',
  ])('refuses the parameter %s', async (query) => {
    expectProblem(await request('GET', `/v1/records?${query}`), 'invalid_request')
  })

  test.each(['AAAA', 'x', '%20', 'MTIz', 'MTIzLjA'])('refuses the cursor %s', async (cursor) => {
    expectProblem(await request('GET', `/v1/records?cursor=${cursor}`), 'invalid_cursor')
  })
})

describe('one record', () => {
  test('shows payload, result and error digit for digit, and every attempt', async () => {
    const payload = '{"amount":12345678901234567890,"b":1.50,"a":[1e400,"\\u0000\\ud800"]}'
    const first = await request('POST', '/v1/claims', {
      body: `{"class":"odd","consumer":"x","key":"a/b %","payload":${payload},"owner":"x-1","refs":["r"],"occurred_at":"2026-01-01T00:00:00.123Z"}`,
    })
    const { id, claim_token } = first.json
    await settle(id, 'fail', { claim_token, error: { message: 'no', code: 'E1' }, retry_after_ms: 0 })
    const second = await claim({ class: 'odd', consumer: 'x', key: 'a/b %' })
    const result = '{"n":0.10000000000000000000001}'
    const body = `{"claim_token":"${second.claim_token}","result":${result}}`
    await request('POST', `/v1/claims/${id}/complete`, { body })

    const answer = await request('GET', `/v1/records/${id}`)
    expect(answer.text).toContain(`"payload":${payload}`)
    expect(answer.text).toContain(`"result":${result}`)
    expect(answer.text).not.toContain(claim_token)
    expect(answer.text).not.toContain(second.claim_token)
    const record = fullRecordSchema.parse(answer.json)
    expect(record).toMatchObject({
      id,
      key: 'a/b %',
      state: 'completed',
      refs: ['r'],
      occurred_at: '2026-01-01T00:00:00.123Z',
      has_payload: true,
      duplicates: null,
      audit: [],
      late_completions: [],
    })
    expect(record.attempts).toMatchObject([
      { generation: 1, attempt: 1, current: false, owner: 'x-1', end: 'failed', error: { message: 'no', code: 'E1' } },
      { generation: 1, attempt: 2, current: true, end: 'completed', error: null, has_result: true },
    ])
  })

  test('tells a payload of null from none', async () => {
    const none = await claim({ class: 'odd', consumer: 'x', key: 'none' })
    const nothing = await claim({ class: 'odd', consumer: 'x', key: 'null', payload: null })
    expect((await request('GET', `/v1/records/${none.id}`)).json).toMatchObject({ has_payload: false, payload: null })
    expect((await request('GET', `/v1/records/${nothing.id}`)).json).toMatchObject({ has_payload: true, payload: null })
  })

  test.each(['rec_0', 'rec_00000000000000000000000000000000', 'REC_1', 'win_1', 'a%2Fb'])(
    'that no record has, %s, is not found',
    async (id) => {
      expectProblem(await request('GET', `/v1/records/${id}`), 'not_found')
    },
  )

  test('outside the scope of the key answers as one that does not exist', async () => {
    const { id } = await claim({ class: 'odd', consumer: 'x', key: 'foreign' })
    const absent = 'rec_00000000000000000000000000000000'
    const scopes = [{ classes: ['even'] }, { consumer: 'y' }]
    for (const scope of scopes) {
      const key = await mint({ actions: ['read', 'claim'], ...scope })
      const blur = (text: string) => text.replace(/"request_id":"[^"]*"/, '')
      const foreign = await request('GET', `/v1/records/${id}`, { key })
      const missing = await request('GET', `/v1/records/${absent}`, { key })
      expectProblem(foreign, 'not_found')
      expect(blur(foreign.text)).toBe(blur(missing.text))
    }
  })

  test('takes no query', async () => {
    const { id } = await claim({ class: 'odd', consumer: 'x', key: 'query' })
    expectProblem(await request('GET', `/v1/records/${id}?full=1`), 'invalid_request')
  })
})
