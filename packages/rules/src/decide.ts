import type { Outcome, Policy } from '@ranbook/contract'
import { limits } from '@ranbook/contract'
import type { AuditEntry } from './audit-entry.ts'
import { attemptsUsedUp } from './policy.ts'
import {
  type ArchivedAttempt,
  type Armed,
  type AttemptEnd,
  beforeArming,
  type Details,
  type Fingerprint,
  isLeaseLive,
  type LedgerRecord,
  type WindowFacts,
} from './record.ts'

/** A claim as the rules see it: checked, with its identity and fingerprint worked out. */
export type ClaimRequest = {
  digest: string
  class: string
  consumer: string
  key: string
  /** Chosen by the claimant or made by the service. */
  claimToken: string
  owner: string | null
  /** Null: the policy's. */
  leaseMs: number | null
  fingerprint: Fingerprint | null
  details: Details
}

/** What stands in the store, and what was read with it. */
export type Standing = {
  record: LedgerRecord
  /** The request's token had an earlier, displaced attempt of this record. */
  tokenSpent: boolean
  /** The store's clock when the record was read, in ms. */
  now: number
}

/** A record to be written where none stands. The store adds its clock and a fencing number. `window` null: in the ledger. */
export type NewRecord = {
  request: ClaimRequest
  leaseMs: number
  onLeaseExpiry: LedgerRecord['onLeaseExpiry']
  window: WindowFacts | null
}

/**
 * A change of the version that was read. `grants`: the store draws a fencing number for it before writing.
 * `archive` is written in the same atomic statement; `fill` gives details that are still null.
 */
export type Change = {
  expectVersion: number
  record: LedgerRecord
  grants: boolean
  archive: ArchivedAttempt | null
  fill: Details | null
  /** Written in the same atomic statement; operators' decisions carry one. */
  audit: AuditEntry | null
}

/** The answer to a claim on a standing record, and the change it needs before it may be given. */
export type Decision = {
  outcome: Outcome | 'token_spent'
  /** The record as the answer shows it: after `change` where there is one. */
  record: LedgerRecord
  retryAfterMs: number | null
  change: Change | null
}

/** The first grant of an identity nobody has claimed. */
export function grantFirst(request: ClaimRequest, policy: Policy, window: WindowFacts | null): NewRecord {
  return { request, leaseMs: request.leaseMs ?? policy.lease_ms, onLeaseExpiry: policy.on_lease_expiry, window }
}

/** The record that a store writes for it, where nothing stands. `now` is the store's clock in ms. */
export function firstGrant(grant: NewRecord, fencingToken: number, now: number): LedgerRecord {
  const { request, leaseMs, onLeaseExpiry, window } = grant
  return {
    digest: request.digest,
    version: 1,
    class: request.class,
    consumer: request.consumer,
    key: request.key,
    state: 'claimed',
    cause: null,
    generation: 1,
    attempt: 1,
    claimToken: request.claimToken,
    fencingToken,
    owner: request.owner,
    leaseMs,
    onLeaseExpiry,
    leaseExpiresAt: now + leaseMs,
    sweepAt: now + leaseMs,
    firstClaimedAt: now,
    claimedAt: now,
    endedAt: null,
    availableAt: null,
    fingerprint: request.fingerprint,
    result: null,
    error: null,
    detailsErasedAt: null,
    window,
    replay: null,
  }
}

/**
 * What a claim gets where a record stands. Pure; `jitter` lies in [0, 1) and spreads `retryAfterMs` only.
 * Order: known fingerprint differs, live claim repeated, then the state's row of the protocol's table. A token that
 * had an attempt of this record never gets another grant.
 */
export function decide(standing: Standing, request: ClaimRequest, policy: Policy, jitter: number): Decision {
  const { record, now } = standing
  if (fingerprintsDiffer(record.fingerprint, request.fingerprint)) return answer('mismatch', record)
  const live = isLeaseLive(record, now)
  if (live && record.claimToken === request.claimToken) return answer('claimed', record)
  const spent = standing.tokenSpent || record.claimToken === request.claimToken
  const grant = (attempt: number, end: AttemptEnd): Decision =>
    spent ? answer('token_spent', record) : grantAgain(record, request, policy, now, { attempt, end })

  switch (record.state) {
    case 'claimed':
      if (live) return answer('in_progress', record, hintMs((record.leaseExpiresAt ?? now) - now, jitter))
      if (record.onLeaseExpiry === 'hold') return answer('held', record)
      if (attemptsUsedUp(policy, record.attempt)) return giveUp(record, now)
      return grant(record.attempt + 1, 'expired')
    case 'failed': {
      const waitMs = (record.availableAt ?? now) - now
      if (waitMs > 0) return answer('backoff', record, spreadUp(waitMs, jitter))
      return grant(record.attempt + 1, 'failed')
    }
    case 'ready':
      if (record.replay !== null && record.replay.armed !== null) {
        const opened = { ...record, generation: record.generation + 1, replay: { ...record.replay, armed: null } }
        return spent
          ? answer('token_spent', record)
          : grantAgain(opened, request, policy, now, {
              attempt: 1,
              end: endOfArmed(record.replay.armed),
              displaced: beforeArming(record),
            })
      }
      return record.cause === 'released' ? grant(record.attempt, 'released') : grant(record.attempt + 1, 'decided')
    case 'completed':
    case 'skipped':
      return answer('duplicate', record)
    case 'held':
      return answer('held', record)
    case 'dead':
      return answer('dead', record)
  }
}

/** Retry hints are spread upwards by at most a fifth, so that a herd does not come back as one. */
const jitterShare = 0.2

/** Whole ms, never below `ms` and never a fifth above it. */
function spreadUp(ms: number, jitter: number): number {
  return Math.floor(ms * (1 + jitterShare * jitter))
}

/** The rest of a lease as a retry hint: at least 1 ms, at most `retryHintMaxMs` with jitter included. */
function hintMs(restMs: number, jitter: number): number {
  return spreadUp(Math.min(Math.max(restMs, 1), limits.retryHintMaxMs / (1 + jitterShare)), jitter)
}

function answer(outcome: Decision['outcome'], record: LedgerRecord, retryAfterMs: number | null = null): Decision {
  return { outcome, record, retryAfterMs, change: null }
}

/** Both known, made alike, and not equal: a policy that changed its rule makes no old record look like another payload. */
export function fingerprintsDiffer(a: Fingerprint | null, b: Fingerprint | null): boolean {
  return a !== null && b !== null && a.kind === b.kind && a.rule === b.rule && a.value !== b.value
}

/** The last lease ran out and no attempt is left; its owner is still believed, so the token stays. */
function giveUp(record: LedgerRecord, now: number): Decision {
  const dead: LedgerRecord = {
    ...record,
    version: record.version + 1,
    state: 'dead',
    cause: 'attempts_lost',
    leaseExpiresAt: null,
    sweepAt: null,
    endedAt: now,
  }
  const change = { expectVersion: record.version, record: dead, grants: false, archive: null, fill: null, audit: null }
  return { outcome: 'dead', record: dead, retryAfterMs: null, change }
}

function grantAgain(
  record: LedgerRecord,
  request: ClaimRequest,
  policy: Policy,
  now: number,
  { attempt, end, displaced = record }: { attempt: number; end: AttemptEnd; displaced?: LedgerRecord },
): Decision {
  const leaseMs = request.leaseMs ?? policy.lease_ms
  const granted: LedgerRecord = {
    ...record,
    version: record.version + 1,
    state: 'claimed',
    cause: null,
    attempt,
    claimToken: request.claimToken,
    owner: request.owner,
    leaseMs,
    onLeaseExpiry: policy.on_lease_expiry,
    leaseExpiresAt: now + leaseMs,
    sweepAt: now + leaseMs,
    claimedAt: now,
    endedAt: null,
    availableAt: null,
    fingerprint: record.fingerprint ?? request.fingerprint,
    result: null,
    error: null,
    detailsErasedAt: null,
    // Of a class that left windows the policy's window is nobody's word: what it forgot would be known to no era.
    window: record.window && (policy.store === 'window' ? { ...record.window, ms: policy.window_ms } : record.window),
  }
  const change: Change = {
    expectVersion: record.version,
    record: granted,
    grants: true,
    archive: archiveAttempt(displaced, end),
    fill: request.details,
    audit: null,
  }
  return { outcome: 'claimed', record: granted, retryAfterMs: null, change }
}

/** How the last attempt of the generation ended that a replay displaces. */
export function endOfArmed({ state, cause }: Armed): AttemptEnd {
  switch (state) {
    case 'completed':
      return 'completed'
    case 'failed':
      return 'failed'
    case 'held':
      return 'expired'
    case 'skipped':
      return 'decided'
    case 'dead':
      return cause === 'operator' ? 'decided' : cause === 'attempts_lost' ? 'expired' : 'failed'
  }
}

/** The record's current attempt as history keeps it. */
function archiveAttempt(record: LedgerRecord, end: AttemptEnd): ArchivedAttempt {
  return {
    digest: record.digest,
    fencingToken: record.fencingToken,
    generation: record.generation,
    attempt: record.attempt,
    claimToken: record.claimToken,
    owner: record.owner,
    claimedAt: record.claimedAt,
    leaseExpiresAt: record.leaseExpiresAt,
    endedAt: record.endedAt,
    end,
    error: record.error,
    result: record.result,
  }
}
