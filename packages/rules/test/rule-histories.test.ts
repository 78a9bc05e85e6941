import { type Policy, policySchema, resolutions } from '@ranbook/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AuditEntry } from '../src/audit-entry.ts'
import { type ClaimRequest, decide, grantFirst } from '../src/decide.ts'
import { createMemoryStore } from '../src/memory-store.ts'
import type { LedgerRecord } from '../src/record.ts'
import { resolve } from '../src/resolve.ts'
import { type SettleCommand, settle } from '../src/settle.ts'
import { noticeExpiry } from '../src/sweep.ts'
import { createHistoryModel, type SettleWord } from './history-model.ts'

const digest = '0123456789abcdef0123456789abcdef'
const details = { payload: null, refs: null, source: null, seq: null, occurredAt: null }
const audit: AuditEntry = {
  actor: 'key:ops',
  action: 'record.resolve',
  target: `rec_${digest}`,
  reason: 'decided',
  before: null,
  after: null,
  requestId: null,
}

const owner = fc.integer({ min: 0, max: 5 })
const said: fc.Arbitrary<SettleCommand> = fc.oneof(
  fc.record({ verb: fc.constant('complete' as const), result: fc.constantFrom(null, 'null', '{"n":1}', '{"n":2}') }),
  fc.record({
    verb: fc.constant('fail' as const),
    error: fc.constant('{"message":"no"}'),
    retryable: fc.boolean(),
    retryAfterMs: fc.constantFrom(null, 0, 2000),
  }),
  fc.record({ verb: fc.constant('extend' as const), leaseMs: fc.constantFrom(null, 1000, 5000) }),
  fc.constant({ verb: 'release' as const }),
)
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('claim' as const), owner, leaseMs: fc.constantFrom(null, 1000) }),
  },
  // Mostly by the current owner: words of others are refused whatever they say.
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('settle' as const), owner: fc.option(owner, { freq: 2 }), said }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 999, 1000, 1001, 2500, 5000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('resolve' as const),
      decision: fc.constantFrom(...resolutions),
      endLiveClaim: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('policy' as const),
      max_attempts: fc.constantFrom(null, 1, 2, 4),
      on_lease_expiry: fc.constantFrom('retry', 'hold'),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const token = (of: number): string => `00000000-0000-4000-8000-00000000000${of}`

test('every history of a record goes as rules 3 to 5 and 9 tell it, and its numbers only grow', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), runHistory), { numRuns: 3000 })
})

async function runHistory(steps: readonly Step[]): Promise<void> {
  const model = createHistoryModel()
  let now = 1_000_000
  let policy: Policy = policySchema.parse({ lease_ms: 2000, max_attempts: 3 })
  const store = createMemoryStore({ now: () => now })
  let record: LedgerRecord | null = null

  for (const action of steps) {
    const before: LedgerRecord | null = record
    switch (action.do) {
      case 'wait':
        now += action.ms
        break
      case 'policy':
        policy = policySchema.parse({
          ...policy,
          max_attempts: action.max_attempts,
          on_lease_expiry: action.on_lease_expiry,
        })
        break
      case 'claim':
        record = await claim(action.owner, action.leaseMs)
        break
      case 'settle':
        if (record !== null)
          record = await say(record, action.owner === null ? record.claimToken : token(action.owner), action.said)
        break
      case 'resolve': {
        if (record === null) break
        const change = resolve(
          record,
          { decision: action.decision, result: null, endLiveClaim: action.endLiveClaim },
          audit,
          now,
        )
        expect(change !== null).toBe(model.mayDecide(action.endLiveClaim, now))
        if (change === null) break
        record = await write(change)
        model.decided(action.decision)
        break
      }
      case 'sweep': {
        const [expired] = await store.findExpired(1)
        const change = expired ? noticeExpiry(expired.record, now) : null
        if (change !== null) record = await write(change)
        break
      }
    }
    expectNumbersToGrow(before, record)
  }

  async function write(change: Parameters<typeof store.compareAndSet>[0][number]): Promise<LedgerRecord> {
    const [written] = await store.compareAndSet([change])
    if (!written) throw new Error('nobody else writes, so the version must be the one that was read')
    return written.record
  }

  async function claim(by: number, leaseMs: number | null): Promise<LedgerRecord> {
    const request: ClaimRequest = {
      ...{ digest, class: 'refund.issued', consumer: 'billing', key: 'k', claimToken: token(by), owner: `o${by}` },
      ...{ leaseMs, fingerprint: null, details },
    }
    const expected = model.expectClaim(token(by), policy, now)
    const attempt = model.nextAttempt()
    const [standing] = await store.insertIfAbsent([grantFirst(request, policy, null)])
    if (!standing) throw new Error('every item is answered')
    const decision = standing.inserted ? null : decide(standing, request, policy, 0.3)
    const after = decision?.change ? await write(decision.change) : standing.record
    const grants = standing.inserted || decision?.change?.grants === true
    const outcome = decision?.outcome ?? 'claimed'
    expect(outcome === 'claimed' ? (grants ? 'granted' : 'repeated') : outcome).toBe(expected)
    if (grants) {
      expect(after).toMatchObject({ attempt, claimToken: token(by), claimedAt: now })
      model.granted(token(by), after)
    } else if (decision?.change) {
      expect(expected).toBe('dead')
      model.givenUp()
    }
    return after
  }

  async function say(current: LedgerRecord, claimToken: string, command: SettleCommand): Promise<LedgerRecord> {
    const expected = model.expectSettle(claimToken, command)
    const [found] = await store.read([{ digest, claimToken }])
    const standing = claimToken === current.claimToken ? 'current' : found?.tokenSpent ? 'earlier' : 'unknown'
    const settlement = settle(current, standing, command, policy, now, 0.3)
    const word: SettleWord =
      settlement.kind === 'write'
        ? 'accepted'
        : settlement.kind === 'same'
          ? 'same'
          : settlement.code === 'stale_claim'
            ? settlement.lateCompletion
              ? 'late'
              : 'stale'
            : settlement.code
    expect(word).toBe(expected)
    if (settlement.kind !== 'write') return current
    const after = await write(settlement.change)
    model.settled(command, after)
    return after
  }
}

function expectNumbersToGrow(before: LedgerRecord | null, after: LedgerRecord | null): void {
  if (before === null || after === null || before === after) return
  expect(after.version).toBe(before.version + 1)
  expect(after.generation).toBe(1)
  const granted = after.claimToken !== before.claimToken
  expect(after.fencingToken > before.fencingToken).toBe(granted)
  if (!granted) expect(after).toMatchObject({ attempt: before.attempt, fencingToken: before.fencingToken })
}
