import { claimItemSchema, claimRequestSchema, completeRequestSchema } from '@ranbook/contract'
import { JsonText } from '@ranbook/rules'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { acceptClaim } from '../../src/http/accept-claim.ts'
import { isPlainComplete } from '../../src/http/parse-settlement.ts'
import { claimBody, tokenOf } from './claim-body.ts'

const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.constantFrom('a', '.', ' ', 'é', '😀', 'n'.repeat(200), 'é'.repeat(100), '__proto__'),
)
const token = fc.oneof(
  fc.uuid(),
  fc.uuid().map((uuid) => uuid.toUpperCase()),
)

/** Values that the schema takes, up to its limits. */
const valid = {
  class: name,
  key: fc.oneof(name, fc.constant('k'.repeat(1024))),
  consumer: name,
  claim_token: token,
  owner: name,
  lease_ms: fc.oneof(fc.integer({ min: 1000, max: 86_400_000 }), fc.constantFrom(1000, 86_400_000)),
  wait_ms: fc.constantFrom(0, 1, 30_000),
  payload: fc.constant(new JsonText('[1.0]')),
  fingerprint: name,
  refs: fc.array(name, { maxLength: 16 }),
  source: name,
}
const rarelyPlain = { seq: fc.constantFrom('0', 7), occurred_at: fc.constant('2026-11-30T10:00:00.000Z') }

/** Values at and beyond every limit, and of every other type. */
const wild = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '*', 'a*', '\u0000', '\u0085', '\ud800', 'n'.repeat(201), 'é'.repeat(101), 'k'.repeat(1025)),
  fc.constantFrom(0, -0, -1, 999, 1000.5, 30_001, 86_400_001, 2 ** 53, Number.NaN),
  fc.constantFrom(tokenOf(1).toUpperCase(), `${tokenOf(1)}\n`, tokenOf(1).slice(1)),
  fc.array(name, { minLength: 15, maxLength: 18 }),
  fc.jsonValue(),
  fc.constantFrom(new JsonText('1'), undefined),
)
const members = [...Object.keys(valid), ...Object.keys(rarelyPlain), 'unknown', '__proto__', 'constructor']

/** A valid claim, or one with a single member replaced or added. */
const claims = fc
  .tuple(
    fc.record(valid, { requiredKeys: ['class', 'key'] }),
    fc.option(fc.record(rarelyPlain, { requiredKeys: [] }), { freq: 4 }),
    fc.option(fc.record({ name: fc.constantFrom(...members), value: wild }), { freq: 2 }),
  )
  .map(([body, more, change]) => {
    const claim: Record<string, unknown> = { ...body, ...more }
    if (change !== null) {
      // As JSON.parse does it: `__proto__` becomes a member like any other.
      Object.defineProperty(claim, change.name, {
        value: change.value,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return claim
  })

test('what the guard accepts the schema accepts as it stands, with and without wait_ms', () => {
  let accepted = 0
  fc.assert(
    fc.property(claims, fc.boolean(), (body, waits) => {
      const given = acceptClaim(body, waits)
      if (given === null) return
      accepted += 1
      expect((waits ? claimRequestSchema : claimItemSchema).parse(body)).toEqual(given)
    }),
    { numRuns: 10_000 },
  )
  // A guard that never said yes would pass too. About one in twenty is plainly valid.
  expect(accepted).toBeGreaterThan(250)
})

test('the usual claim is accepted without the schema', () => {
  const body = claimBody('order:88', {
    claim_token: tokenOf(1),
    owner: 'billing-7f9c/12',
    lease_ms: 60_000,
    payload: new JsonText('{}'),
    refs: ['order:88'],
    source: 'billing',
    fingerprint: 'sha256:00',
  })
  expect(acceptClaim(body, true)).toBe(body)
  expect(acceptClaim({ ...body, wait_ms: 0 }, true)).not.toBeNull()
})

test.each([null, undefined, 7, 'text', [], [claimBody('k')], {}, { class: 'a' }, { key: 'k' }])(
  'the guard leaves %j to the schema',
  (value) => {
    expect(acceptClaim(value, true)).toBeNull()
  },
)

test('what passes as a plain complete the schema accepts as it stands', () => {
  fc.assert(
    fc.property(
      fc.record({ claim_token: fc.oneof(token, wild), result: wild, more: wild }, { requiredKeys: [] }),
      (body) => {
        if (isPlainComplete(body)) expect(completeRequestSchema.parse(body)).toEqual(body)
      },
    ),
    { numRuns: 3000 },
  )
  expect(isPlainComplete({ claim_token: tokenOf(1), result: new JsonText('1') })).toBe(true)
})
