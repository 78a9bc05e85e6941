import type { Reason } from '@ranbook/contract'
import {
  idempotencyKey,
  idempotencyOf,
  keyGeneration,
  type LedgerRecord,
  type ListedRecord,
  recordId,
  visibleState,
} from '@ranbook/rules'
import type { ClaimAnswer } from '../ledger/claim.ts'
import { timeText } from './time-text.ts'

/** The decision document of a claim, as JSON text. The token is in it only where the outcome is `claimed`. */
export function decisionJson(answer: ClaimAnswer): string {
  const { outcome, record, retryAfterMs, now } = answer
  const token = outcome === 'claimed' ? `"${record.claimToken}"` : 'null'
  const shared = sharedMembers(record, now)
  return `{"outcome":"${outcome}",${shared},"claim_token":${token},"retry_after_ms":${retryAfterMs}}`
}

/** A record as JSON text, as `recordSchema` of the contract describes it. Never holds its token. */
export function recordJson(record: LedgerRecord, now: number): string {
  return `{${recordMembers(record, now)}}`
}

/** The members of `recordJson` without the braces, to splice more in. */
export function recordMembers(record: LedgerRecord, now: number, result = resultMembers(record)): string {
  const owner = record.owner === null ? 'null' : JSON.stringify(record.owner)
  const rest = `"owner":${owner},"claimed_at":${timeJson(record.claimedAt)},"available_at":${timeJson(record.availableAt)}`
  return `${sharedMembers(record, now, result)},${rest}`
}

/** The same without `result`, which may be large: for rows of a list. */
export function recordRowMembers({ record, hasResult }: ListedRecord, now: number): string {
  return recordMembers({ ...record, result: null }, now, `"has_result":${hasResult},`)
}

function resultMembers({ result }: LedgerRecord): string {
  return `"has_result":${result !== null},"result":${result},`
}

/**
 * Concatenated by hand: stored JSON is spliced in as the text it is, and would lose digits on the way through a value.
 * Only texts that came from outside need quoting.
 */
function sharedMembers(record: LedgerRecord, now: number, result = resultMembers(record)): string {
  const { digest, leaseExpiresAt, window } = record
  // By the times alone, so that it reads the same before and after the sweeper wrote `held`.
  const leaseOver = leaseExpiresAt !== null && now > leaseExpiresAt
  const remainingMs = leaseExpiresAt === null ? null : Math.max(0, leaseExpiresAt - now)
  const reason = reasonOf(record)
  return `"id":"${recordId(record)}","class":${JSON.stringify(record.class)},"consumer":${JSON.stringify(record.consumer)},"key":${JSON.stringify(record.key)},"state":"${visibleState(record, now)}","generation":${record.generation},"attempt":${record.attempt},"fencing_token":${record.fencingToken},"idempotency_key":"${idempotencyKey(digest, keyGeneration(record))}","lease_expires_at":${timeJson(leaseExpiresAt)},"lease_remaining_ms":${remainingMs},"lease_over":${leaseOver},${result}"error":${record.error},"details_erased_at":${timeJson(record.detailsErasedAt)},"first_claimed_at":${timeJson(record.firstClaimedAt)},"settled_at":${timeJson(settledAt(record))},"reason":${reason === null ? 'null' : `"${reason}"`},"skipped":${record.state === 'skipped'},"degraded":${window?.degraded ?? false},"replay":${replayJson(record)}`
}

function replayJson(record: LedgerRecord): string {
  const { replay } = record
  if (replay === null) return 'null'
  return JSON.stringify({ id: replay.id, reason: replay.reason, idempotency: idempotencyOf(record) })
}

function timeJson(ms: number | null): string {
  return ms === null ? 'null' : `"${timeText(ms)}"`
}

/** When the record settled, in ms; null before. An attempt that failed or was given back ended, but it will run again. */
export function settledAt(record: LedgerRecord): number | null {
  const settled = record.state === 'completed' || record.state === 'dead' || record.state === 'skipped'
  return settled ? record.endedAt : null
}

function reasonOf(record: LedgerRecord): Reason | null {
  switch (record.cause) {
    case 'attempts_failed':
    case 'attempts_lost':
      return 'max_attempts'
    case 'not_retryable':
      return 'not_retryable'
    case 'operator':
    case 'retry':
    case 'replay':
      return 'operator'
    case 'released':
    case null:
      return null
  }
}
