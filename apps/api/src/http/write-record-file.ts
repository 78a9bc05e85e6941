import type { AttemptView, DuplicatesView, FullRecordView } from '@ranbook/contract'
import {
  type ArchivedAttempt,
  type AuditLine,
  beforeArming,
  type Details,
  type DuplicateTally,
  endOfArmed,
  isLeaseLive,
  type LateCompletion,
  type LedgerRecord,
  type ListedRecord,
  type ReplayStore,
} from '@ranbook/rules'
import type { RecordFile } from '../ledger/get-record.ts'
import { timeText } from './time-text.ts'
import { recordMembers, recordRowMembers } from './write-record.ts'

/** A row of the list of records, as `recordRowSchema` of the contract describes it. */
export function recordRowJson(listed: ListedRecord, now: number): string {
  return `{${recordRowMembers(listed, now)},${detailMembers(listed.details, listed.duplicates)}}`
}

/** A record and everything kept about it, as `fullRecordSchema` of the contract describes it. Holds no token. */
export function recordFileJson(
  { full, history, now }: RecordFile,
  audit: readonly AuditLine[],
  replays: readonly ReplayOfRecord[],
): string {
  const { record, details, duplicates } = full
  const attempts = [...history.attempts.map(archivedAttemptJson), currentAttemptJson(record, now)]
  const late = history.lateCompletions.map((completion) => lateCompletionJson(completion, record, history.attempts))
  return `{${recordMembers(record, now)},${detailMembers(details, duplicates)},"has_payload":${details.payload !== null},"payload":${details.payload},"attempts":[${attempts.join(',')}],"late_completions":[${late.join(',')}],"replays":${JSON.stringify(replays.map(replayView))},"audit":[${audit.map(auditJson).join(',')}]}`
}

type ReplayOfRecord = Awaited<ReturnType<ReplayStore['ofRecord']>>[number]

function replayView({ replay, item }: ReplayOfRecord): FullRecordView['replays'][number] {
  const { id, reason, delivery, idempotency, createdBy } = replay
  const created = { created_at: timeText(replay.createdAt), created_by: createdBy }
  return { id, reason, delivery, idempotency, ...created, outcome: item.outcome, at: timeText(item.at) }
}

/** A tally of duplicates for an answer; null where none was suppressed. */
export function duplicatesView(tally: DuplicateTally | null): DuplicatesView | null {
  if (tally === null) return null
  return { count: tally.count, first_at: timeText(tally.firstAt), last_at: timeText(tally.lastAt) }
}

function detailMembers(details: Omit<Details, 'payload'>, duplicates: DuplicateTally | null): string {
  const { refs, source, seq, occurredAt } = details
  return `"refs":${JSON.stringify(refs ?? [])},"source":${JSON.stringify(source)},"seq":${JSON.stringify(seq)},"occurred_at":${JSON.stringify(timeOrNull(occurredAt))},"duplicates":${JSON.stringify(duplicatesView(duplicates))}`
}

function archivedAttemptJson(attempt: ArchivedAttempt): string {
  return attemptJson(attempt, false, attempt.end)
}

function currentAttemptJson(record: LedgerRecord, now: number): string {
  return attemptJson(beforeArming(record), true, currentEnd(record, now))
}

type ShownAttempt = Omit<ArchivedAttempt, 'end' | 'digest' | 'claimToken'>

function attemptJson(attempt: ShownAttempt, current: boolean, end: AttemptView['end']): string {
  const { generation, fencingToken, owner, error, result } = attempt
  const times = `"claimed_at":"${timeText(attempt.claimedAt)}","lease_expires_at":${JSON.stringify(timeOrNull(attempt.leaseExpiresAt))},"ended_at":${JSON.stringify(timeOrNull(attempt.endedAt))}`
  return `{"generation":${generation},"attempt":${attempt.attempt},"fencing_token":${fencingToken},"current":${current},"owner":${JSON.stringify(owner)},${times},"end":${JSON.stringify(end)},"error":${error},"has_result":${result !== null},"result":${result}}`
}

/** How the attempt granted last ended; null while its owner may still be at work. */
function currentEnd(record: LedgerRecord, now: number): AttemptView['end'] {
  if (record.replay?.armed != null) return endOfArmed(record.replay.armed)
  if (record.cause === 'operator' || record.cause === 'retry') return 'decided'
  switch (record.state) {
    case 'claimed':
      return isLeaseLive(record, now) ? null : 'expired'
    case 'held':
      return 'expired'
    case 'completed':
      return 'completed'
    case 'failed':
      return 'failed'
    case 'dead':
      return record.cause === 'attempts_lost' ? 'expired' : 'failed'
    case 'ready':
      return 'released'
    case 'skipped':
      return 'decided'
  }
}

function lateCompletionJson(late: LateCompletion, record: LedgerRecord, attempts: readonly ArchivedAttempt[]): string {
  const from = [record, ...attempts].find(({ claimToken }) => claimToken === late.claimToken)
  return `{"at":"${timeText(late.at)}","generation":${from?.generation ?? null},"attempt":${from?.attempt ?? null},"has_result":${late.result !== null},"result":${late.result}}`
}

function auditJson(line: AuditLine): string {
  const { actor, action, target, reason, before, after, requestId } = line
  const who = JSON.stringify({ id: String(line.id), at: timeText(line.at), actor, action, target, reason })
  return `${who.slice(0, -1)},"before":${before},"after":${after},"request_id":${JSON.stringify(requestId)}}`
}

/** A time for an answer, null where there is none. */
export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : timeText(ms)
}
