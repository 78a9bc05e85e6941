import { type PolicyInput, policySchema } from '@ranbook/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  attemptsUsedUp,
  backoffMs,
  defaultPolicy,
  findPolicyFault,
  isPolicyName,
  matchPolicyName,
  policyCovers,
} from '../src/policy.ts'

test('a class nobody wrote a policy for has the protocol’s defaults', () => {
  expect(defaultPolicy).toEqual({
    store: 'ledger',
    lease_ms: 60_000,
    on_lease_expiry: 'retry',
    max_attempts: 10,
    backoff: { initial_ms: 1000, factor: 2, max_ms: 300_000 },
    window_ms: 86_400_000,
    window_outage: 'refuse',
    details_retention_ms: null,
    key_retention_ms: null,
    source_preset: null,
    source_horizon_ms: null,
    ordering: 'off',
    gap_timeout_ms: 60_000,
    fingerprint: 'payload',
    store_payload: true,
    replay_target: null,
    replay_approval: 'none',
    downstream_memory_ms: 86_400_000,
    effects_cost_money: false,
  })
  expect(findPolicyFault(defaultPolicy)).toBeNull()
})

describe('names', () => {
  test.each([
    ['refund.issued', 'refund.issued', true],
    ['refund.issued', 'refund.issued.v2', false],
    ['refund.issued', 'Refund.issued', false],
    ['refund.*', 'refund.issued', true],
    ['refund.*', 'refund.', false],
    ['refund.*', 'refund', false],
    ['refund.*', 'refunds.issued', false],
    ['refund*', 'refunds', true],
    ['refund*', 'refund', false],
    ['*', 'x', true],
    ['*', 'refund.issued', true],
  ])('%s covers %s: %s', (name, className, covers) => {
    expect(policyCovers(name, className)).toBe(covers)
  })

  test.each([
    ['refund.issued', true],
    ['refund.*', true],
    ['*', true],
    ['*.issued', false],
    ['a*b', false],
    ['a**', false],
    ['**', false],
  ])('%s may name a policy: %s', (name, may) => {
    expect(isPolicyName(name)).toBe(may)
  })

  test.each([
    [['*', 'refund.*', 'refund.issued', 'refund.is*'], 'refund.issued'],
    [['*', 'refund.*', 'refund.is*'], 'refund.is*'],
    [['*', 'refund.*', 'refund.issued.*'], 'refund.*'],
    [['*', 'refund.issued*'], '*'],
    [['refund', 'payout.*'], null],
    [[], null],
  ])('of %j the most specific governs refund.issued: %s', (names, governing) => {
    expect(matchPolicyName('refund.issued', (name) => names.includes(name))).toBe(governing)
  })

  test('the governing name covers the class, and no covering name is longer', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '.', '😀'), minLength: 1, maxLength: 5 })
    const name = fc.oneof(
      part,
      part.map((prefix) => `${prefix}*`),
      fc.constant('*'),
    )
    fc.assert(
      fc.property(part, fc.array(name, { maxLength: 12 }), (className, names) => {
        const governing = matchPolicyName(className, (asked) => names.includes(asked))
        const covering = names.filter((candidate) => policyCovers(candidate, className))
        const exact = covering.find((candidate) => candidate === className)
        const longest = covering.reduce<string | null>(
          (best, candidate) => (best === null || candidate.length > best.length ? candidate : best),
          null,
        )
        expect(governing).toBe(exact ?? longest)
      }),
    )
  })
})

describe('faults', () => {
  test.each<[string, PolicyInput, 'invalid_policy' | 'not_available']>([
    ['on_lease_expiry: hold', { store: 'window', on_lease_expiry: 'hold' }, 'invalid_policy'],
    ['ordering', { store: 'window', ordering: 'track' }, 'invalid_policy'],
    ['replay_target', { store: 'window', replay_target: { url: 'https://example.com/' } }, 'invalid_policy'],
    ['effects_cost_money', { store: 'window', on_lease_expiry: 'retry', effects_cost_money: true }, 'invalid_policy'],
    ['backoff.max_ms', { backoff: { initial_ms: 2000, factor: 2, max_ms: 1999 } }, 'invalid_policy'],
    ['ordering: track', { ordering: 'track' }, 'not_available'],
    ['ordering: guard', { ordering: 'guard' }, 'not_available'],
    ['ordering: wait', { ordering: 'wait' }, 'not_available'],
    ['gap_timeout_ms', { gap_timeout_ms: 60_001 }, 'not_available'],
  ])('%s in %j is %s', (named, input, code) => {
    const fault = findPolicyFault(policySchema.parse(input))
    expect(fault?.code).toBe(code)
    expect(fault?.detail).toContain(named)
  })

  test.each<PolicyInput>([
    { on_lease_expiry: 'hold' },
    { lease_ms: 1000, max_attempts: null },
    { max_attempts: 1, backoff: { initial_ms: 0, factor: 10, max_ms: 0 } },
    { fingerprint: { exclude: ['/sent_at'] }, store_payload: false },
    { fingerprint: 'off' },
  ])('%j is served', (input) => {
    expect(findPolicyFault(policySchema.parse(input))).toBeNull()
  })
})

describe('attempts and backoff', () => {
  test.each([
    [null, 1_000_000, false],
    [1, 1, true],
    [10, 9, false],
    [10, 10, true],
    [10, 11, true],
  ])('max_attempts %s after attempt %i used up: %s', (maxAttempts, attempt, usedUp) => {
    expect(attemptsUsedUp(policySchema.parse({ max_attempts: maxAttempts }), attempt)).toBe(usedUp)
  })

  test.each([
    [{ initial_ms: 1000, factor: 2, max_ms: 300_000 }, 1, 1000],
    [{ initial_ms: 1000, factor: 2, max_ms: 300_000 }, 4, 8000],
    [{ initial_ms: 1000, factor: 2, max_ms: 300_000 }, 10, 300_000],
    [{ initial_ms: 1000, factor: 2, max_ms: 300_000 }, 5000, 300_000],
    [{ initial_ms: 3, factor: 1.5, max_ms: 300_000 }, 2, 4],
    [{ initial_ms: 500, factor: 1, max_ms: 500 }, 1000, 500],
    [{ initial_ms: 0, factor: 10, max_ms: 300_000 }, 1000, 0],
  ])('%j after attempt %i waits from 0 to %i ms', (backoff, attempt, ceilingMs) => {
    const policy = policySchema.parse({ backoff })
    expect(backoffMs(policy, attempt, 0)).toBe(0)
    expect(backoffMs(policy, attempt, 1 - Number.EPSILON / 2)).toBe(ceilingMs)
  })

  test('backoff is whole ms within its bounds for every policy, attempt and jitter', () => {
    const backoff = fc.record({
      initial_ms: fc.integer({ min: 0, max: 86_400_000 }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      max_ms: fc.integer({ min: 0, max: 86_400_000 }),
    })
    const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(backoff, fc.integer({ min: 1, max: 5000 }), jitter, (fields, attempt, share) => {
        const waitMs = backoffMs(policySchema.parse({ backoff: fields }), attempt, share)
        expect(Number.isInteger(waitMs)).toBe(true)
        expect(waitMs).toBeGreaterThanOrEqual(0)
        expect(waitMs).toBeLessThanOrEqual(fields.max_ms)
      }),
    )
  })
})
