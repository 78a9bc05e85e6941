import { problemSchema, type Route, routes } from '@ranbook/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { adminKey, servedDatabase } from './served-database.ts'

const served = servedDatabase()

const tokens = [1, 2, 3].map(tokenOf)
const keys = ['a', 'b', 'c/%', '😀']
/** Values that are right somewhere, so that a random body gets past the first check now and then. */
const plausible = fc.oneof(
  fc.constantFrom('refund.issued', 'worker', 'refund.*', '*', ...keys, ...tokens),
  fc.constantFrom(0, 1, 1000, 60_000, 2 ** 53, -1, 1.5, 1e21),
  fc.constantFrom(true, false, null, '', '\u0000', '\ud800', 'n'.repeat(201), '2026-11-30T10:00:00.000Z'),
  fc.constantFrom('complete', 'fail', 'extend', 'release', 'completed', 'retry', 'dead', 'skipped', 'ledger', 'window'),
  fc.constantFrom(['claim'], ['read', 'admin'], ['*'], [], { message: 'm' }, { actions: ['claim'], classes: ['*'] }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
)
const memberNames = [
  ...[
    'class',
    'consumer',
    'key',
    'claim_token',
    'owner',
    'lease_ms',
    'payload',
    'fingerprint',
    'refs',
    'source',
    'seq',
  ],
  ...['occurred_at', 'wait', 'result', 'error', 'retryable', 'retry_after_ms', 'id', 'action', 'decision', 'reason'],
  ...[
    'end_live_claim',
    'store',
    'on_lease_expiry',
    'max_attempts',
    'backoff',
    'ordering',
    'fingerprint',
    'name',
    'scopes',
  ],
  ...[
    'expires_at',
    'effects_cost_money',
    '__proto__',
    'constructor',
    'limit',
    'cursor',
    'state',
    'q',
    'at',
    'from',
    'to',
  ],
]
const looseObject = fc.dictionary(fc.constantFrom(...memberNames), plausible, { maxKeys: 6 })
const nearClaim = fc.tuple(fc.constantFrom(...keys), looseObject).map(([key, more]) => ({ ...claimBody(key), ...more }))
const nearSettlement = fc
  .tuple(fc.constantFrom(...tokens), looseObject)
  .map(([claim_token, more]) => ({ claim_token, ...more }))
const item = fc.oneof(nearClaim, nearSettlement, plausible)
const bodyValue = fc.oneof(
  looseObject,
  nearClaim,
  nearSettlement,
  fc.array(item, { maxLength: 4 }).map((claims) => ({ claims })),
  fc.array(item, { maxLength: 4 }).map((settlements) => ({ settlements })),
  plausible,
)
/** JSON, sometimes cut, doubled or with a character changed. */
const body = fc
  .tuple(
    bodyValue,
    fc.constantFrom('whole', 'whole', 'whole', 'cut', 'doubled', 'changed'),
    fc.nat(),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  )
  .map(([value, change, at, character]) => {
    const text = JSON.stringify(value)
    const place = at % (text.length + 1)
    if (change === 'cut') return text.slice(0, place)
    if (change === 'doubled') return text.slice(0, place) + text.slice(0, place) + text.slice(place)
    if (change === 'changed') return text.slice(0, place) + character + text.slice(place + 1)
    return text
  })
const segment = fc.oneof(
  fc.constantFrom(
    'refund.issued',
    'refund.*',
    '*',
    `rec_${'0'.repeat(32)}`,
    'rec_x',
    '..',
    '%00',
    '%zz',
    '%2F',
    '😀',
    '{id}',
    '{name}',
    ':id',
  ),
  fc
    .string({ unit: 'binary', maxLength: 12 })
    .filter((text) => !/\p{Surrogate}/u.test(text))
    .map(encodeURIComponent),
)
const query = fc
  .array(fc.tuple(fc.constantFrom(...memberNames), plausible), { maxLength: 3 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${queryText(value)}`).join('&'))

function queryText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /\p{Surrogate}/u.test(text) ? '%ED%A0%80' : encodeURIComponent(text)
}

test.each(Object.entries<Route>(routes))('%s answers whatever it is sent, and never with a 500', async (_, route) => {
  const { urls, lines, request } = served()
  // Something to settle, resolve and find.
  for (const [at, key] of keys.entries()) {
    await request('POST', '/v1/claims', { body: claimBody(key, { claim_token: tokens[at % 3] }) })
  }
  const ids = await Promise.all(
    keys.map(async (key) => (await request('POST', '/v1/claims', { body: claimBody(key) })).json.id),
  )
  const request_ = fc.record({
    segment: fc.oneof(segment, fc.constantFrom(...ids)),
    query: fc.option(query),
    body: route.body ? body : fc.option(body, { freq: 2 }),
    ifMatch: fc.option(fc.constantFrom('"1"', '*', 'x', 'W/"1"', '"9007199254740993"')),
  })
  await fc.assert(
    fc.asyncProperty(request_, async (given) => {
      const path = route.path.replace(/\{\w+\}/, given.segment) + (given.query === null ? '' : `?${given.query}`)
      const answer = await call(urls[0] ?? '', route.method, path, {
        key: adminKey,
        ...(given.body === null || route.method === 'GET' ? {} : { body: new TextEncoder().encode(given.body) }),
        ...(given.ifMatch === null ? {} : { headers: { 'if-match': given.ifMatch } }),
      })
      expect([answer.status, answer.status < 500]).toEqual([answer.status, true])
      expect(answer.headers.has('x-request-id')).toBe(true)
      if (answer.headers.get('content-type') === 'application/problem+json') {
        expect(problemSchema.strict().parse(answer.json).status).toBe(answer.status)
      } else if (answer.status >= 400) {
        // The only refusals that are no problems are decisions.
        expect([route.path, Object.keys(answer.json)]).toEqual(['/v1/claims', expect.arrayContaining(['outcome'])])
      }
    }),
    { numRuns: 200 },
  )
  expect(lines.filter((line) => line.includes('"level":50'))).toEqual([])
})
