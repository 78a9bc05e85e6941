import type { ErrorCode, Policy } from '@ranbook/contract'
import { sameJson } from './canonical-json.ts'
import type { Change } from './decide.ts'
import { attemptsUsedUp, backoffMs } from './policy.ts'
import type { LedgerRecord } from './record.ts'

/** What an owner says about its claim. JSON is text. `leaseMs`, `retryAfterMs` null: as granted, as the policy says. */
export type SettleCommand =
  | { verb: 'complete'; result: string | null }
  | { verb: 'fail'; error: string; retryable: boolean; retryAfterMs: number | null }
  | { verb: 'extend'; leaseMs: number | null }
  | { verb: 'release' }

/**
 * How a token stands to the record: `current` (the last granted), `earlier` (a displaced attempt of it) or `unknown`.
 */
export type TokenStanding = 'current' | 'earlier' | 'unknown'

/** `write`: apply `change`, answer its record. `same`: the first answer again. `refused`: nothing changes. */
export type Settlement =
  | { kind: 'write'; change: Change }
  | { kind: 'same' }
  | {
      kind: 'refused'
      code: Extract<ErrorCode, 'stale_claim' | 'already_settled' | 'result_conflict'>
      /** The result of a complete that comes too late is kept for the timeline. */
      lateCompletion: boolean
    }

/**
 * What becomes of a claim when a token speaks. Pure; only a `fail` looks at `policy`; `now` is the store's clock in ms as read with the record, `jitter`
 * lies in [0, 1) and spreads the backoff. The owner of the current token is believed until somebody else was granted or
 * an operator decided, however long its lease is over. After an operator's `retry` only a complete is still taken.
 */
export function settle(
  record: LedgerRecord,
  token: TokenStanding,
  command: SettleCommand,
  policy: Policy,
  now: number,
  jitter: number,
): Settlement {
  if (token !== 'current') return stale(command, token === 'earlier')
  switch (record.state) {
    case 'claimed':
    case 'held':
      return { kind: 'write', change: apply(record, command, policy, now, jitter) }
    case 'completed':
      if (record.cause === 'operator') return stale(command, true)
      if (command.verb !== 'complete') return refused('already_settled')
      // Erased, the first result can't be compared any more; nothing changes either way.
      if (record.detailsErasedAt !== null) return { kind: 'same' }
      return sameResult(record.result, command.result) ? { kind: 'same' } : refused('result_conflict')
    case 'failed':
      return command.verb === 'fail' ? { kind: 'same' } : refused('already_settled')
    case 'dead':
      if (record.cause === 'operator') return stale(command, true)
      if (record.cause === 'attempts_lost') {
        return { kind: 'write', change: apply(record, command, policy, now, jitter) }
      }
      return command.verb === 'fail' ? { kind: 'same' } : refused('already_settled')
    case 'skipped':
      return stale(command, true)
    case 'ready':
      if (record.cause === 'released') {
        return command.verb === 'release' ? { kind: 'same' } : refused('already_settled')
      }
      // Completed before a replay armed it, it is known to have run: to say so again is no news.
      if (record.cause === 'replay') return stale(command, record.replay?.armed?.state !== 'completed')
      if (command.verb !== 'complete') return stale(command, true)
      return { kind: 'write', change: apply(record, command, policy, now, jitter) }
  }
}

function stale(command: SettleCommand, hadAttempt: boolean): Settlement {
  return { kind: 'refused', code: 'stale_claim', lateCompletion: hadAttempt && command.verb === 'complete' }
}

function refused(code: 'already_settled' | 'result_conflict'): Settlement {
  return { kind: 'refused', code, lateCompletion: false }
}

/** Absent and `null` differ; else results are compared as fingerprints are. */
function sameResult(kept: string | null, given: string | null): boolean {
  return kept === null || given === null ? kept === given : sameJson(kept, given)
}

/** The record after its owner's word, written against the version that was read. */
function apply(record: LedgerRecord, command: SettleCommand, policy: Policy, now: number, jitter: number): Change {
  return {
    expectVersion: record.version,
    record: {
      ...record,
      version: record.version + 1,
      detailsErasedAt: null,
      ...fieldsAfter(record, command, policy, now, jitter),
    },
    grants: false,
    archive: null,
    fill: null,
    audit: null,
  }
}

function fieldsAfter(
  record: LedgerRecord,
  command: SettleCommand,
  policy: Policy,
  now: number,
  jitter: number,
): Partial<LedgerRecord> {
  const ended = { cause: null, leaseExpiresAt: null, sweepAt: null, endedAt: now, availableAt: null } as const
  switch (command.verb) {
    case 'complete':
      return completedFields(command.result, now)
    case 'release':
      return { ...ended, state: 'ready', cause: 'released' }
    case 'extend': {
      // Never shortens: a late copy of a shorter extend must not end a lease its owner counts on.
      const leaseExpiresAt = Math.max(record.leaseExpiresAt ?? 0, now + (command.leaseMs ?? record.leaseMs))
      return { state: 'claimed', cause: null, leaseExpiresAt, sweepAt: leaseExpiresAt, endedAt: null }
    }
    case 'fail': {
      const failure = { ...ended, error: command.error }
      if (!command.retryable) return { ...failure, state: 'dead', cause: 'not_retryable' }
      if (attemptsUsedUp(policy, record.attempt)) return { ...failure, state: 'dead', cause: 'attempts_failed' }
      const availableAt = now + (command.retryAfterMs ?? backoffMs(policy, record.attempt, jitter))
      return { ...failure, state: 'failed', availableAt }
    }
  }
}

type CompletedFields = Pick<
  LedgerRecord,
  'state' | 'cause' | 'leaseExpiresAt' | 'sweepAt' | 'endedAt' | 'availableAt' | 'result' | 'error' | 'detailsErasedAt'
>

/**
 * What a complete writes beside the next version, whatever else stands in the record: this is why a store may take it
 * as one guarded write (`completeClaimed`) without reading first. `now` is the store's clock in ms.
 */
export function completedFields(result: string | null, now: number): CompletedFields {
  return {
    state: 'completed',
    cause: null,
    leaseExpiresAt: null,
    sweepAt: null,
    endedAt: now,
    availableAt: null,
    result,
    error: null,
    detailsErasedAt: null,
  }
}
