import { type Policy, policySchema } from '@ranbook/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decide } from '../src/decide.ts'
import { createMemoryStore } from '../src/memory-store.ts'
import type { Fingerprint, LedgerRecord, StateCause } from '../src/record.ts'
import { type SettleCommand, settle } from '../src/settle.ts'
import { deepFreeze, now, standing, tokens } from './record-situations.ts'

const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const json = fc.json()
const leaseMs = fc.integer({ min: 1000, max: 86_400_000 })
const maxAttempts = fc.option(fc.integer({ min: 1, max: 1000 }))
const fingerprint: fc.Arbitrary<Fingerprint | null> = fc.option(
  fc.record({ kind: fc.constantFrom('given', 'computed'), value: fc.constantFrom('a', 'b') }),
)

const policy: fc.Arbitrary<Policy> = fc
  .record({ lease_ms: leaseMs, max_attempts: maxAttempts, on_lease_expiry: fc.constantFrom('retry', 'hold') })
  .map((fields) => deepFreeze(policySchema.parse(fields)))

const standsAs: readonly (readonly [LedgerRecord['state'], readonly (StateCause | null)[]])[] = [
  ['claimed', [null]],
  ['held', [null]],
  ['completed', [null, 'operator']],
  ['failed', [null]],
  ['dead', ['not_retryable', 'attempts_failed', 'attempts_lost', 'operator']],
  ['skipped', ['operator']],
  ['ready', ['released', 'retry']],
]

/** Any record that the rules can leave behind, and `now` anywhere around its times. */
const anyRecord: fc.Arbitrary<LedgerRecord> = fc
  .record({
    stands: fc.constantFrom(...standsAs.flatMap(([state, causes]) => causes.map((cause) => ({ state, cause })))),
    rule: fc.constantFrom('retry' as const, 'hold' as const),
    attempt: fc.integer({ min: 1, max: 1200 }),
    generation: fc.integer({ min: 1, max: 9 }),
    version: fc.integer({ min: 1, max: 1_000_000 }),
    leaseEnd: fc.integer({ min: now - 100_000, max: now + 100_000 }),
    availableAt: fc.integer({ min: now - 100_000, max: now + 700_000_000 }),
    swept: fc.boolean(),
    lease: leaseMs,
    text: fc.option(json),
    fingerprint,
  })
  .map(({ stands, rule, attempt, generation, version, leaseEnd, availableAt, swept, lease, text, ...rest }) => {
    const runs = stands.state === 'claimed' || stands.state === 'held'
    return deepFreeze({
      ...standing('completed', stands.state === 'held' ? 'hold' : rule),
      ...rest,
      ...stands,
      attempt,
      generation,
      version,
      leaseMs: lease,
      leaseExpiresAt: runs ? leaseEnd : null,
      sweepAt: stands.state === 'claimed' && !swept ? leaseEnd : null,
      endedAt: runs ? null : now - 1,
      availableAt: stands.state === 'failed' ? availableAt : null,
      result: stands.state === 'completed' ? text : null,
      error: stands.state === 'failed' ? '{"message":"no"}' : null,
    })
  })

const command: fc.Arbitrary<SettleCommand> = fc.oneof(
  fc.record({ verb: fc.constant('complete' as const), result: fc.option(json) }),
  fc.record({
    verb: fc.constant('fail' as const),
    error: fc.constant('{"message":"no"}'),
    retryable: fc.boolean(),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 604_800_000 })),
  }),
  fc.record({ verb: fc.constant('extend' as const), leaseMs: fc.option(leaseMs) }),
  fc.constant({ verb: 'release' as const }),
)

function requestOf(claimToken: string, given: Fingerprint | null) {
  const details = { payload: null, refs: null, source: null, seq: null, occurredAt: null }
  const { digest, class: className, consumer, key } = standing('completed', 'retry')
  return deepFreeze({
    digest,
    class: className,
    consumer,
    key,
    claimToken,
    owner: null,
    leaseMs: null,
    fingerprint: given,
    details,
  })
}

const token = fc.constantFrom(tokens.current, tokens.earlier, tokens.unknown)

test('decide answers every record, gives the same answer again, and writes into nothing it is given', () => {
  fc.assert(
    fc.property(anyRecord, token, fingerprint, policy, jitter, (record, claimToken, given, rules, share) => {
      const standingThere = deepFreeze({ record, tokenSpent: claimToken === tokens.earlier, now })
      const decision = decide(standingThere, requestOf(claimToken, given), rules, share)
      expect(decide(standingThere, requestOf(claimToken, given), rules, share)).toEqual(decision)
      expect(decision.record).toBe(decision.change?.record ?? record)
      expect(decision.record.generation).toBe(record.generation)
      expect(decision.record.version).toBe(record.version + (decision.change === null ? 0 : 1))
    }),
    { numRuns: 2000 },
  )
})

test('decide never grants to a token that had an attempt of the record', () => {
  const spent = fc.constantFrom(tokens.current, tokens.earlier)
  fc.assert(
    fc.property(anyRecord, spent, fingerprint, policy, (record, claimToken, given, rules) => {
      const standingThere = { record, tokenSpent: claimToken === tokens.earlier, now }
      const decision = decide(standingThere, requestOf(claimToken, given), rules, 0)
      expect(decision.change?.grants ?? false).toBe(false)
      if (decision.outcome === 'claimed') expect(decision.record).toBe(record)
    }),
    { numRuns: 2000 },
  )
})

test('decide takes a mismatch only from two fingerprints of one kind', () => {
  fc.assert(
    fc.property(anyRecord, token, fingerprint, policy, (record, claimToken, given, rules) => {
      const standingThere = { record, tokenSpent: claimToken === tokens.earlier, now }
      const kept = record.fingerprint
      const differ = kept !== null && given !== null && kept.kind === given.kind && kept.value !== given.value
      expect(decide(standingThere, requestOf(claimToken, given), rules, 0).outcome === 'mismatch').toBe(differ)
    }),
    { numRuns: 2000 },
  )
})

test('retry_after_ms of in_progress lies from 1 to 5000 and of backoff from the wait to a fifth above it', () => {
  fc.assert(
    fc.property(anyRecord, policy, jitter, (record, rules, share) => {
      const { outcome, retryAfterMs } = decide(
        { record, tokenSpent: false, now },
        requestOf(tokens.unknown, null),
        rules,
        share,
      )
      if (outcome === 'in_progress') {
        const restMs = Math.max(1, (record.leaseExpiresAt ?? 0) - now)
        // The cap holds with the jitter, so below it a fifth is left for the spread.
        expect(retryAfterMs).toBeGreaterThanOrEqual(Math.min(restMs, 4166))
        expect(retryAfterMs).toBeLessThanOrEqual(Math.min(restMs * 1.2, 5000))
      } else if (outcome === 'backoff') {
        const waitMs = (record.availableAt ?? 0) - now
        expect(retryAfterMs).toBeGreaterThanOrEqual(waitMs)
        expect(retryAfterMs).toBeLessThanOrEqual(waitMs * 1.2)
      } else {
        expect(retryAfterMs).toBeNull()
      }
      expect(Number.isInteger(retryAfterMs ?? 0)).toBe(true)
    }),
    { numRuns: 4000 },
  )
})

test('settle answers every record, gives the same answer again, and keeps identity, generation, attempt and fencing', () => {
  fc.assert(
    fc.property(
      anyRecord,
      fc.constantFrom('current' as const, 'earlier' as const, 'unknown' as const),
      command.map(deepFreeze),
      policy,
      jitter,
      (record, tokenStanding, said, rules, share) => {
        const settlement = settle(record, tokenStanding, said, rules, now, share)
        expect(settle(record, tokenStanding, said, rules, now, share)).toEqual(settlement)
        if (settlement.kind !== 'write') return
        const { digest, generation, attempt, claimToken, fencingToken, firstClaimedAt } = record
        const kept = { digest, generation, attempt, claimToken, fencingToken, firstClaimedAt }
        expect(settlement.change.record).toMatchObject({ ...kept, version: record.version + 1 })
        expect(settlement.change).toMatchObject({ expectVersion: record.version, grants: false, archive: null })
        expect(tokenStanding).toBe('current')
      },
    ),
    { numRuns: 2000 },
  )
})

test('extend never brings the end of a lease nearer', () => {
  fc.assert(
    fc.property(anyRecord, fc.option(leaseMs), policy, (record, lengthMs, rules) => {
      const settlement = settle(record, 'current', { verb: 'extend', leaseMs: lengthMs }, rules, now, 0)
      if (settlement.kind !== 'write') return
      const { leaseExpiresAt } = settlement.change.record
      expect(leaseExpiresAt).toBeGreaterThanOrEqual(record.leaseExpiresAt ?? 0)
      expect(leaseExpiresAt).toBeGreaterThanOrEqual(now + (lengthMs ?? record.leaseMs))
    }),
    { numRuns: 2000 },
  )
})

test('a guarded complete leaves every claimed record exactly as settle would', async () => {
  const claimed = anyRecord.filter(({ state }) => state === 'claimed')
  await fc.assert(
    fc.asyncProperty(claimed, fc.option(json), policy, jitter, async (wanted, result, rules, share) => {
      const store = createMemoryStore({ now: () => now })
      const first = {
        request: requestOf(tokens.current, null),
        leaseMs: 1000,
        onLeaseExpiry: 'retry' as const,
        window: null,
      }
      const [inserted] = await store.insertIfAbsent([first])
      const fencingToken = inserted?.record.fencingToken ?? 0
      const change = { expectVersion: 1, grants: false, archive: null, fill: null, audit: null }
      await store.compareAndSet([{ ...change, record: { ...wanted, fencingToken } }])
      const guard = { digest: wanted.digest, claimToken: tokens.current, consumer: wanted.consumer, result }
      const [completed] = await store.completeClaimed([guard])
      const settled = settle({ ...wanted, fencingToken }, 'current', { verb: 'complete', result }, rules, now, share)
      expect(settled).toMatchObject({ kind: 'write', change: { record: completed?.record } })
      expect(completed?.record).toEqual(settled.kind === 'write' && settled.change.record)
    }),
    { numRuns: 1000 },
  )
})
