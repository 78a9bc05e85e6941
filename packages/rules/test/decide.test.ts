import type { Policy } from '@ranbook/contract'
import { describe, expect, test } from 'vitest'
import {
  type ClaimRequest,
  type Decision,
  decide,
  fingerprintsDiffer,
  grantFirst,
  type Standing,
} from '../src/decide.ts'
import type { Fingerprint, LedgerRecord } from '../src/record.ts'
import {
  attemptLimits,
  deepFreeze,
  expiryRules,
  now,
  policyWith,
  type Situation,
  situations,
  standing,
  type TokenName,
  tokenNames,
  tokens,
} from './record-situations.ts'

/** `granted next`: attempt + 1; `granted same`: the released number again; `granted anew`: the next generation; `unchanged`: the live claim repeated. */
type Answer =
  | 'granted next'
  | 'granted same'
  | 'granted anew'
  | 'unchanged'
  | 'given up'
  | 'in_progress'
  | 'backoff'
  | 'duplicate'
  | 'held'
  | 'dead'
  | 'token_spent'

/** The protocol's table of states, with the rule on spent tokens: by a fresh token, an earlier one, the current one. */
const answers: Record<Situation, readonly [unknown: Answer, earlier: Answer, current: Answer]> = {
  'claimed with a live lease': ['in_progress', 'in_progress', 'unchanged'],
  'claimed with a lease in its last ms': ['in_progress', 'in_progress', 'unchanged'],
  'a retry claim whose lease is over': ['granted next', 'token_spent', 'token_spent'],
  'a retry claim noticed by the sweeper': ['granted next', 'token_spent', 'token_spent'],
  'a hold claim whose lease is over': ['held', 'held', 'held'],
  'held by the sweeper': ['held', 'held', 'held'],
  completed: ['duplicate', 'duplicate', 'duplicate'],
  'completed by an operator': ['duplicate', 'duplicate', 'duplicate'],
  'failed and waiting': ['backoff', 'backoff', 'backoff'],
  'failed and due': ['granted next', 'token_spent', 'token_spent'],
  'dead as not retryable': ['dead', 'dead', 'dead'],
  'dead as attempts failed': ['dead', 'dead', 'dead'],
  'dead by a lost lease': ['dead', 'dead', 'dead'],
  'dead by an operator': ['dead', 'dead', 'dead'],
  'skipped by an operator': ['duplicate', 'duplicate', 'duplicate'],
  'given back': ['granted same', 'token_spent', 'token_spent'],
  'sent back by an operator': ['granted next', 'token_spent', 'token_spent'],
  'armed after it completed': ['granted anew', 'token_spent', 'token_spent'],
  'armed after it was held': ['granted anew', 'token_spent', 'token_spent'],
  'armed after its lease was lost': ['granted anew', 'token_spent', 'token_spent'],
}

/** The only rows that `max_attempts` changes: a lost lease whose attempts are used up is given up, whoever asks. */
const answersUsedUp: Partial<typeof answers> = {
  'a retry claim whose lease is over': ['given up', 'given up', 'given up'],
  'a retry claim noticed by the sweeper': ['given up', 'given up', 'given up'],
}

/** How history says the displaced attempt ended. */
const displacedAs: Partial<Record<Situation, string>> = {
  'a retry claim whose lease is over': 'expired',
  'a retry claim noticed by the sweeper': 'expired',
  'failed and due': 'failed',
  'given back': 'released',
  'sent back by an operator': 'decided',
  'armed after it completed': 'completed',
  'armed after it was held': 'expired',
  'armed after its lease was lost': 'expired',
}

const answerColumn = { unknown: 0, earlier: 1, current: 2 } as const
const cases = situations.flatMap(({ situation, rule, record }) =>
  tokenNames.flatMap((token) =>
    attemptLimits.flatMap(({ limit, maxAttempts, usedUp }) =>
      expiryRules.map((policyRule) => ({
        situation,
        rule,
        record,
        token,
        limit,
        policyRule,
        policy: policyWith({ maxAttempts, rule: policyRule }),
        answer: ((usedUp && answersUsedUp[situation]) || answers[situation])[answerColumn[token]],
      })),
    ),
  ),
)

describe('every cell of the claim table', () => {
  test.each(cases)(
    '$situation under $rule, $limit, policy $policyRule: the $token token gets $answer',
    ({ situation, record, token, policy, answer }) => {
      const request = requestWith({ claimToken: tokens[token] })
      const decision = decide(standingOf(record, token), request, policy, 0.5)
      expect(decision).toEqual(expectedDecision(answer, situation, record, request, policy))
    },
  )
})

describe('fingerprints', () => {
  const known: Fingerprint = { kind: 'computed', value: 'sha256:aa' }
  const otherComputed: Fingerprint = { kind: 'computed', value: 'sha256:bb' }
  const given: Fingerprint = { kind: 'given', value: 'v1' }
  const otherGiven: Fingerprint = { kind: 'given', value: 'v2' }

  test.each(situations.flatMap((row) => tokenNames.map((token) => ({ ...row, token }))))(
    '$situation under $rule: a known fingerprint that differs is a mismatch before all else, with the $token token',
    ({ record, token }) => {
      const request = requestWith({ claimToken: tokens[token], fingerprint: otherComputed })
      const policy = policyWith({ maxAttempts: 10, rule: 'retry' })
      const decision = decide(standingOf(record, token), request, policy, 0.5)
      expect(decision).toEqual({ outcome: 'mismatch', record, retryAfterMs: null, change: null })
    },
  )

  test.each([
    [known, otherComputed, true],
    [given, otherGiven, true],
    [known, known, false],
    [given, given, false],
    [known, given, false],
    [given, known, false],
    [known, { kind: 'given', value: known.value }, false],
    [known, { ...otherComputed, rule: '0a1b2c3d' }, false],
    [{ ...known, rule: '0a1b2c3d' }, { ...otherComputed, rule: '3d2c1b0a' }, false],
    [{ ...known, rule: '0a1b2c3d' }, { ...otherComputed, rule: '0a1b2c3d' }, true],
    [null, known, false],
    [known, null, false],
    [null, null, false],
  ] as const)('%j against %j differs: %j', (kept, asked, differs) => {
    expect(fingerprintsDiffer(kept, asked)).toBe(differs)
  })

  test.each([
    { kept: null, asked: given, stands: given },
    { kept: null, asked: null, stands: null },
    { kept: known, asked: given, stands: known },
    { kept: known, asked: null, stands: known },
  ])('a grant keeps the first fingerprint that was given: $kept then $asked leaves $stands', (row) => {
    const record = deepFreeze({ ...standing('failed and due', 'retry'), fingerprint: row.kept })
    const request = requestWith({ claimToken: tokens.unknown, fingerprint: row.asked })
    const decision = decide(standingOf(record, 'unknown'), request, policyWith({ maxAttempts: 10, rule: 'retry' }), 0)
    expect(decision.change?.record.fingerprint).toEqual(row.stands)
  })
})

test('the lease is the request’s own where it names one, else the policy’s', () => {
  const policy = policyWith({ maxAttempts: 10, rule: 'hold' })
  expect(grantFirst(requestWith({ leaseMs: 1234 }), policy, null)).toMatchObject({
    leaseMs: 1234,
    onLeaseExpiry: 'hold',
  })
  expect(grantFirst(requestWith({}), policy, null)).toMatchObject({ leaseMs: 30_000, onLeaseExpiry: 'hold' })
  const again = requestWith({ leaseMs: 1234 })
  expect(decide(standingOf(standing('failed and due', 'retry'), 'unknown'), again, policy, 0).record).toMatchObject({
    leaseMs: 1234,
    leaseExpiresAt: now + 1234,
    onLeaseExpiry: 'hold',
  })
})

function requestWith(fields: Partial<ClaimRequest>): ClaimRequest {
  return deepFreeze({
    digest: '0123456789abcdef0123456789abcdef',
    class: 'refund.issued',
    consumer: 'billing-worker',
    key: 'order:88:refund',
    claimToken: tokens.unknown,
    owner: 'billing-2',
    leaseMs: null,
    fingerprint: { kind: 'computed', value: 'sha256:aa' },
    details: { payload: '{"n":1}', refs: ['order:88'], source: 'billing', seq: '41', occurredAt: now - 95_000 },
    ...fields,
  })
}

function standingOf(record: LedgerRecord, token: TokenName): Standing {
  return deepFreeze({ record, tokenSpent: token === 'earlier', now })
}

function expectedDecision(
  answer: Answer,
  situation: Situation,
  record: LedgerRecord,
  request: ClaimRequest,
  policy: Policy,
): Decision {
  switch (answer) {
    case 'granted next':
      return expectedGrant(4, situation, record, request, policy)
    case 'granted same':
      return expectedGrant(3, situation, record, request, policy)
    case 'granted anew':
      return expectedGrant(1, situation, record, request, policy)
    case 'unchanged':
      return { outcome: 'claimed', record, retryAfterMs: null, change: null }
    case 'given up': {
      const dead = { ...record, version: 8, state: 'dead', cause: 'attempts_lost', endedAt: now } as const
      const written = { ...dead, leaseExpiresAt: null, sweepAt: null }
      return { outcome: 'dead', record: written, retryAfterMs: null, change: changeTo(written) }
    }
    case 'in_progress':
      // Half the jitter of a fifth upon what is left of the lease, at least 1 ms.
      return { outcome: answer, record, retryAfterMs: record.leaseExpiresAt === now ? 1 : 2750, change: null }
    case 'backoff':
      return { outcome: answer, record, retryAfterMs: 1100, change: null }
    case 'duplicate':
    case 'held':
    case 'dead':
    case 'token_spent':
      return { outcome: answer, record, retryAfterMs: null, change: null }
  }
}

function changeTo(record: LedgerRecord) {
  return { expectVersion: 7, record, grants: false, archive: null, fill: null, audit: null }
}

function expectedGrant(
  attempt: number,
  situation: Situation,
  record: LedgerRecord,
  request: ClaimRequest,
  policy: Policy,
): Decision {
  const granted: LedgerRecord = {
    digest: record.digest,
    version: 8,
    class: 'refund.issued',
    consumer: 'billing-worker',
    key: 'order:88:refund',
    state: 'claimed',
    cause: null,
    generation: record.replay === null ? 2 : 3,
    attempt,
    claimToken: tokens.unknown,
    fencingToken: 41,
    owner: 'billing-2',
    leaseMs: 30_000,
    onLeaseExpiry: policy.on_lease_expiry,
    leaseExpiresAt: now + 30_000,
    sweepAt: now + 30_000,
    firstClaimedAt: now - 90_000,
    claimedAt: now,
    endedAt: null,
    availableAt: null,
    fingerprint: record.fingerprint,
    result: null,
    error: null,
    detailsErasedAt: null,
    window: null,
    replay: record.replay && { ...record.replay, armed: null },
  }
  const archive = {
    digest: record.digest,
    fencingToken: 41,
    generation: 2,
    attempt: 3,
    claimToken: tokens.current,
    owner: 'billing-1',
    claimedAt: now - 5000,
    leaseExpiresAt: record.leaseExpiresAt,
    endedAt: record.replay === null ? record.endedAt : now - 700,
    end: displacedAs[situation],
    error: record.error,
    result: record.result,
  } as NonNullable<NonNullable<Decision['change']>['archive']>
  const change = { ...changeTo(granted), grants: true, archive, fill: request.details }
  return { outcome: 'claimed', record: granted, retryAfterMs: null, change }
}
