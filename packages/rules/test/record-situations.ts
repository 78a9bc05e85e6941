import type { LeaseExpiryRule, Policy } from '@ranbook/contract'
import { policySchema } from '@ranbook/contract'
import type { Armed, LedgerRecord, StateCause } from '../src/record.ts'

/** The store's clock in every generated case. */
export const now = 1_000_000

/** The token of the record's current attempt, of a displaced attempt, and of nobody. */
export const tokens = {
  current: '00000000-0000-4000-8000-00000000000c',
  earlier: '00000000-0000-4000-8000-00000000000e',
  unknown: '00000000-0000-4000-8000-00000000000f',
} as const
export type TokenName = keyof typeof tokens
export const tokenNames = Object.keys(tokens) as TokenName[]

/** Every situation stands at the third attempt. */
const attempt = 3

/** `max_attempts` of the class, and whether a third attempt uses them up. */
export const attemptLimits = [
  { limit: 'no limit', maxAttempts: null, usedUp: false },
  { limit: 'one attempt left', maxAttempts: 4, usedUp: false },
  { limit: 'attempts used up', maxAttempts: 3, usedUp: true },
  { limit: 'a limit lowered since', maxAttempts: 1, usedUp: true },
] as const

export const expiryRules: readonly LeaseExpiryRule[] = ['retry', 'hold']

/** The result of records that were completed, and another one. */
export const keptResult = '{"total": 12345678901234567890}'
export const otherResult = '{"total": 12345678901234567891}'
const keptError = '{"message":"refused"}'

const over = { leaseExpiresAt: now - 1, sweepAt: now - 1 }
const ended = { leaseExpiresAt: null, sweepAt: null, endedAt: now - 700 }
const failed = { ...ended, error: keptError }

/** The replay that armed them: the same idempotency key as that of generation 2. */
const replayId = '00000000-0000-4000-8000-0000000000aa'

/** Every way a record can stand, by state, cause and lease; `rules`: the expiry rules it can stand under. */
const standings = {
  'claimed with a live lease': [expiryRules, { state: 'claimed', leaseExpiresAt: now + 2500, sweepAt: now + 2500 }],
  'claimed with a lease in its last ms': [expiryRules, { state: 'claimed', leaseExpiresAt: now, sweepAt: now }],
  'a retry claim whose lease is over': [['retry'], { state: 'claimed', ...over }],
  'a retry claim noticed by the sweeper': [['retry'], { state: 'claimed', ...over, sweepAt: null }],
  'a hold claim whose lease is over': [['hold'], { state: 'claimed', ...over }],
  'held by the sweeper': [['hold'], { state: 'held', ...over, sweepAt: null }],
  completed: [expiryRules, { state: 'completed', ...ended, result: keptResult }],
  'completed by an operator': [expiryRules, { state: 'completed', cause: 'operator', ...ended, result: keptResult }],
  'failed and waiting': [expiryRules, { state: 'failed', ...failed, availableAt: now + 1000 }],
  'failed and due': [expiryRules, { state: 'failed', ...failed, availableAt: now }],
  'dead as not retryable': [expiryRules, { state: 'dead', cause: 'not_retryable', ...failed }],
  'dead as attempts failed': [expiryRules, { state: 'dead', cause: 'attempts_failed', ...failed }],
  'dead by a lost lease': [['retry'], { state: 'dead', cause: 'attempts_lost', ...ended }],
  'dead by an operator': [expiryRules, { state: 'dead', cause: 'operator', ...failed }],
  'skipped by an operator': [expiryRules, { state: 'skipped', cause: 'operator', ...ended }],
  'given back': [expiryRules, { state: 'ready', cause: 'released', ...ended }],
  'sent back by an operator': [expiryRules, { state: 'ready', cause: 'retry', ...failed }],
  'armed after it completed': [expiryRules, { ...armed('completed', null), result: keptResult }],
  'armed after it was held': [expiryRules, armed('held', null)],
  'armed after its lease was lost': [['retry'], armed('dead', 'attempts_lost')],
} as const satisfies Record<string, readonly [readonly LeaseExpiryRule[], Partial<LedgerRecord>]>

export type Situation = keyof typeof standings

function armed(state: Armed['state'], cause: StateCause | null) {
  const times = { leaseExpiresAt: null, endedAt: now - 700, availableAt: null }
  const replay = {
    id: replayId,
    reason: 'the provider lost it',
    keyGeneration: 2,
    armed: { state, cause, ...times, replay: null },
  }
  return { state: 'ready', cause: 'replay', ...ended, endedAt: now - 100, replay } as const
}

/** Every situation under every rule it can stand under. */
export const situations: readonly { situation: Situation; rule: LeaseExpiryRule; record: LedgerRecord }[] = (
  Object.keys(standings) as Situation[]
).flatMap((situation) =>
  standings[situation][0].map((rule) => ({ situation, rule, record: standing(situation, rule) })),
)

/** A frozen record in that situation. */
export function standing(situation: Situation, rule: LeaseExpiryRule): LedgerRecord {
  return deepFreeze({
    digest: '0123456789abcdef0123456789abcdef',
    version: 7,
    class: 'refund.issued',
    consumer: 'billing-worker',
    key: 'order:88:refund',
    cause: null,
    generation: 2,
    attempt,
    claimToken: tokens.current,
    fencingToken: 41,
    owner: 'billing-1',
    leaseMs: 4000,
    onLeaseExpiry: rule,
    firstClaimedAt: now - 90_000,
    claimedAt: now - 5000,
    endedAt: null,
    availableAt: null,
    fingerprint: { kind: 'computed', value: 'sha256:aa' },
    result: null,
    error: null,
    detailsErasedAt: null,
    window: null,
    replay: null,
    ...standings[situation][1],
  })
}

/** A frozen policy: the default one with these fields. */
export function policyWith(fields: { maxAttempts: number | null; rule: LeaseExpiryRule }): Policy {
  return deepFreeze(
    policySchema.parse({ lease_ms: 30_000, max_attempts: fields.maxAttempts, on_lease_expiry: fields.rule }),
  )
}

/** Freezes a value and all it holds, so that a rule that writes into its input throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner)
    Object.freeze(value)
  }
  return value
}
