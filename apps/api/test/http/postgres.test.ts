import { expect, test } from 'vitest'
import { type Answered, call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { adminKey, servedDatabase } from './served-database.ts'

const served = servedDatabase(2)

test('of 200 racers on a key, through two processes, one is granted and nobody gets a 5xx', async () => {
  const { urls } = served()
  for (let key = 0; key < 5; key++) {
    const racers = Array.from({ length: 200 }, (_, racer) =>
      call(urls[racer % 2] ?? '', 'POST', '/v1/claims', { key: adminKey, body: claimBody(`race:${key}`) }),
    )
    const statuses = (await Promise.all(racers)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: 199 }, () => 409)])
  }
})

test('200 racers as items of batches: one is granted', async () => {
  const { urls } = served()
  const claims = Array.from({ length: 20 }, () => claimBody('batch race'))
  const batches = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      call(urls[at % 2] ?? '', 'POST', '/v1/claims/batch', { key: adminKey, body: { claims } }),
    ),
  )
  const outcomes = batches.flatMap(({ json }) => json.decisions.map(({ outcome }) => outcome))
  expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1)
  expect(outcomes.filter((outcome) => outcome === 'in_progress')).toHaveLength(199)
})

test('a claim that waits in one process is answered by the complete in another', async () => {
  const { urls, request } = served()
  const owner = await request('POST', '/v1/claims', { body: claimBody('waited for', { claim_token: tokenOf(1) }) })
  const waiting = call(urls[1] ?? '', 'POST', '/v1/claims', {
    key: adminKey,
    body: claimBody('waited for', { wait_ms: 30_000 }),
  })
  const settled = await request('POST', `/v1/claims/${owner.json.id}/complete`, {
    body: { claim_token: tokenOf(1), result: 42 },
  })
  expect(settled.status).toBe(200)
  expect((await waiting).json).toMatchObject({ outcome: 'duplicate', result: 42 })
})

const exactValues = [
  '12345678901234567890',
  '-0',
  '1e400',
  'null',
  '"\\u0000"',
  '"\\ud800 \\u00e9 \\/ é 😀"',
  '{"b":1,"2":2,"1":3,"b":4}',
  '{ "a" : [ 1 ,\t2 ] }',
  '['.repeat(63) + ']'.repeat(63),
  `"${'é'.repeat(131_071)}"`,
]

test.each(exactValues)('%s goes through the database character for character', async (value) => {
  const { request } = served()
  const key = JSON.stringify(`exact:${exactValues.indexOf(value)}`)
  const claim = (token: number): Promise<Answered> =>
    request('POST', '/v1/claims', {
      body: `{"class":"c","consumer":"w","key":${key},"claim_token":"${tokenOf(token)}","payload":${value}}`,
    })
  const { json } = await claim(1)
  const settle = (verb: string, token: number, more: string): Promise<Answered> =>
    request('POST', `/v1/claims/${json.id}/${verb}`, { body: `{"claim_token":"${tokenOf(token)}",${more}}` })

  // An error's detail is one level deeper, and smaller.
  const detail = value.length < 60_000 && !value.startsWith('[[') ? value : '[]'
  const failed = await settle('fail', 1, `"retry_after_ms":0,"error":{"message":"m","detail":${detail}}`)
  expect(failed.text).toContain(`"error":{"message":"m","detail":${detail}},`)
  expect((await claim(2)).status).toBe(201)
  expect((await settle('complete', 2, `"result":${value}`)).text).toContain(`"result":${value},`)
  expect((await claim(3)).text).toContain(`"has_result":true,"result":${value},"error":`)
  expect((await request('GET', `/v1/records/${json.id}`)).text).toContain(`"payload":${value}`)
})

test.each(['/', '%2F%00', '..', '😀'.repeat(256), '__proto__', "'; DROP TABLE record; --", '\u2028', 'a\u0301'])(
  'the key %j is found again, byte for byte',
  async (key) => {
    const { request } = served()
    const claimed = await request('POST', '/v1/claims', { body: claimBody(key) })
    expect([claimed.status, claimed.json.key]).toEqual([201, key])
    const lookup = await request('GET', `/v1/lookup?q=${encodeURIComponent(key)}`)
    expect([lookup.status, lookup.text.includes(claimed.json.id)]).toEqual([200, true])
  },
)

test('times at the ends of what RFC 3339 can say are kept or refused, never a 500', async () => {
  const { request } = served()
  const times = ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z']
  for (const [at, occurred_at] of [...times, `2026-11-30T10:00:00.${'1'.repeat(60)}Z`].entries()) {
    const answer = await request('POST', '/v1/claims', { body: claimBody(`time:${at}`, { occurred_at }) })
    expect([occurred_at, [201, 400].includes(answer.status)]).toEqual([occurred_at, true])
    if (answer.status === 201) expect((await request('GET', `/v1/records/${answer.json.id}`)).status).toBe(200)
    else expectProblem(answer, 'invalid_request')
  }
})

test('a payload above the limit is 413 and nothing is stored', async () => {
  const { request } = served()
  const payload = 'x'.repeat(256 * 1024)
  expectProblem(await request('POST', '/v1/claims', { body: claimBody('large', { payload }) }), 'payload_too_large')
  expect((await request('POST', '/v1/claims', { body: claimBody('large') })).status).toBe(201)
})
