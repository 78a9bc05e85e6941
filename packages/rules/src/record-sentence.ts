import { durationText } from './duration-text.ts'
import { counted, named, quoted, utc } from './plain-text.ts'
import type { Armed, LedgerRecord } from './record.ts'
import type { DuplicateTally } from './record-store.ts'
import type { RecordVerdict } from './verdict.ts'

/** What is known of one record. Times in ms by the store's clock. */
export type RecordFacts = {
  record: LedgerRecord
  verdict: RecordVerdict
  /** Generations that completed, the current one included. */
  completions: number
  /** Earlier attempts of this generation whose lease ran out unheard, or that an operator cut off: each may have run. */
  unheardAttempts: number
  /** Completes that came too late. */
  late: { count: number; lastAt: number } | null
  duplicates: DuplicateTally | null
}

/** One plain sentence that says whether the record's effect ran, by whom and when; fit for an incident channel. */
export function recordSentence(facts: RecordFacts): string {
  const { record } = facts
  const clauses = [
    `${named(record.class)} ${quoted(record.key)} ${verdictClause(facts)}`,
    doubtClause(facts),
    lateClause(facts),
    duplicateClause(facts.duplicates),
    erasedClause(record),
    windowClause(record),
  ]
  return `${clauses.filter((clause) => clause !== null).join('; ')}.`
}

function verdictClause(facts: RecordFacts): string {
  const { record, verdict } = facts
  const consumer = named(record.consumer)
  const attempt = `attempt ${record.attempt}`
  const owner = record.owner === null ? '' : ` (${named(record.owner)})`
  const claimed = `claimed at ${utc(record.claimedAt)}`
  const ended = record.endedAt === null ? '' : ` at ${utc(record.endedAt)}`
  const leaseEnd = record.leaseExpiresAt === null ? '' : ` at ${utc(record.leaseExpiresAt)}`
  switch (verdict) {
    case 'ran':
    case 'ran_again':
    case 'ran_details_erased':
      return ranClause(facts)
    case 'running':
      return `is running: ${consumer}${owner} ${claimed}, ${attempt}, and its lease ends${leaseEnd}`
    case 'interrupted':
      return `may have run: ${consumer}${owner} ${claimed}, ${attempt}, its lease ran out${leaseEnd} without a word, and nobody took it up`
    case 'held':
      return `may have run and is held until a person decides: ${consumer}${owner} ${claimed}, ${attempt}, and its lease ran out${leaseEnd} without a word`
    case 'failed': {
      const retry = record.availableAt === null ? '' : `, to be tried again from ${utc(record.availableAt)}`
      return `failed: ${consumer} reported ${attempt} as failed${ended}${errorPart(record)}${retry}`
    }
    case 'dead':
      return `was given up: ${deadClause(record, consumer, ended)}`
    case 'ready':
      if (record.replay?.armed != null) {
        return `is to run with the next delivery: a replay armed it (${quoted(record.replay.reason)}) after ${attempt} of ${consumer}${armedPart(record.replay.armed)}`
      }
      return record.cause === 'released'
        ? `${isWholeStory(facts) ? 'has not run' : 'waits'}: ${consumer} gave ${attempt} back unstarted${ended}, and the next delivery runs it`
        : `is to run with the next delivery: an operator sent it back${ended} after ${attempt} of ${consumer}${record.error === null ? ', which may have run' : errorPart(record)}`
    case 'skipped':
      return `was skipped on purpose: an operator decided so${ended} after ${attempt} of ${consumer}`
  }
}

function ranClause(facts: RecordFacts): string {
  const { record, completions } = facts
  const consumer = named(record.consumer)
  const first = `first claimed at ${utc(record.firstClaimedAt)}`
  const times =
    completions > 1 ? `ran ${completions} times, by deliberate replay` : isWholeStory(facts) ? 'ran once' : 'ran'
  if (record.replay?.armed != null) {
    const { armed } = record.replay
    const before = armed.state === 'completed' && armed.endedAt !== null ? ` at ${utc(armed.endedAt)}` : ' before'
    return `${times}: ${consumer} completed it${before}, and a replay lets the next delivery run it again as generation ${record.generation + 1} (${quoted(record.replay.reason)}), ${first}`
  }
  if (record.state !== 'completed') {
    return `${times}: ${consumer} completed an earlier generation, and generation ${record.generation} is ${record.state}, ${first}`
  }
  const when = record.endedAt === null ? '' : ` at ${utc(record.endedAt)}`
  return record.cause === 'operator'
    ? `${times}: an operator marked it completed${when}, after attempt ${record.attempt} of ${consumer}, ${first}`
    : `${times}: ${consumer} completed it${when}, attempt ${record.attempt}, ${first}`
}

/** Was every attempt heard of in time, so that nothing more can have run than what stands here? */
function isWholeStory({ record, unheardAttempts, late }: RecordFacts): boolean {
  return unheardAttempts === 0 && late === null && !hasForgottenAttempts(record)
}

/** A window keeps the last attempt alone. */
function hasForgottenAttempts({ window, attempt }: LedgerRecord): boolean {
  return window !== null && attempt > 1
}

function deadClause(record: LedgerRecord, consumer: string, ended: string): string {
  const attempts = counted(record.attempt, 'attempt', 'attempts')
  switch (record.cause) {
    case 'not_retryable':
      return `${consumer} failed${ended} and said not to retry${errorPart(record)}`
    case 'attempts_lost':
      return `${attempts} of ${consumer} used up, the last without a word, so it may have run; noticed${ended}`
    case 'operator':
      return `an operator decided so${ended} after ${attempts} of ${consumer}`
    case 'attempts_failed':
    case 'released':
    case 'retry':
    case 'replay':
    case null:
      return `${attempts} of ${consumer} used up, the last failed${ended}${errorPart(record)}`
  }
}

/** What is known of the attempt before a replay. */
function armedPart({ state, cause }: Armed): string {
  switch (state) {
    case 'completed':
      return ', which completed'
    case 'failed':
      return ', which failed'
    case 'held':
      return ', which ended without a word and may have run'
    case 'skipped':
      return ', which was skipped on purpose'
    case 'dead':
      return cause === 'attempts_lost' ? ', which was given up and may have run' : ', which was given up'
  }
}

/** The error's message; the stored text is JSON of `{message, …}` written by the service. */
function errorPart(record: LedgerRecord): string {
  if (record.error === null) return ''
  const { message } = JSON.parse(record.error) as { message: string }
  return `, with ${quoted(message)}`
}

function doubtClause({ unheardAttempts, verdict }: RecordFacts): string | null {
  if (unheardAttempts === 0) return null
  const attempts = counted(unheardAttempts, 'earlier attempt', 'earlier attempts')
  const ran = verdict === 'ran' || verdict === 'ran_again' || verdict === 'ran_details_erased'
  return `${attempts} ended without a word, so it may have run ${ran ? 'more than once' : 'all the same'}`
}

function lateClause({ late, verdict }: RecordFacts): string | null {
  if (late === null) return null
  const reports = late.count === 1 ? 'a former owner' : `${late.count} former owners`
  const ran = verdict === 'ran' || verdict === 'ran_again' || verdict === 'ran_details_erased'
  return `${reports} reported too late, last at ${utc(late.lastAt)}, to have completed it, so it probably ran${ran ? ' more than once' : ''}`
}

function duplicateClause(duplicates: DuplicateTally | null): string | null {
  if (duplicates === null || duplicates.count === 0) return null
  const { count, firstAt, lastAt } = duplicates
  return count === 1
    ? `at least 1 duplicate was suppressed, at ${utc(lastAt)}`
    : `at least ${count} duplicates were suppressed, the first at ${utc(firstAt)}, the last at ${utc(lastAt)}`
}

function erasedClause({ detailsErasedAt }: LedgerRecord): string | null {
  return detailsErasedAt === null ? null : `its details were erased at ${utc(detailsErasedAt)}, as the policy says`
}

function windowClause(record: LedgerRecord): string | null {
  const { window, attempt } = record
  if (window === null) return null
  const kept = `kept in a ${durationText(window.ms)} window`
  if (!hasForgottenAttempts(record)) return kept
  const earlier = attempt === 2 ? 'the attempt' : 'attempts'
  return `${kept}, where nothing is known of ${earlier} before`
}
