import type {
  AttentionLateCompletion,
  AttentionRecord,
  MismatchCount,
  NewConsumer,
  RecordAttention,
} from './attention-store.ts'
import type { ShortRetention } from './horizon.ts'
import type { WindowLoss, WindowLossCause } from './placement.ts'
import { counted, named, quoted, utc } from './plain-text.ts'

/** Why a record is under attention, in one sentence. */
export function recordAttentionSentence(kind: RecordAttention, record: AttentionRecord): string {
  const subject = `${named(record.class)} ${quoted(record.key)}`
  const attempt = `attempt ${record.attempt} of ${named(record.consumer)}`
  const since = utc(record.since)
  switch (kind) {
    case 'held':
      return `${subject} is held until a person decides: the lease of ${attempt} ran out at ${since} without a word, so it may have run.`
    case 'dead':
      return `${subject} was given up at ${since}: ${deadCause(record)}.`
    case 'interrupted':
      return `${subject} may have run: the lease of ${attempt} ran out at ${since} without a word, and no delivery came since.`
    case 'failed':
      return `${subject} waits to be tried again since ${since}: ${attempt} failed${errorPart(record)}, and no delivery came since.`
    case 'ready':
      return record.cause === 'released'
        ? `${subject} waits for a delivery since ${since}: ${attempt} was given back unstarted, and none came since.`
        : record.cause === 'replay'
          ? `${subject} waits for a delivery since ${since}: a replay armed it after ${attempt}, and none came since.`
          : `${subject} waits for a delivery since ${since}: an operator sent it back after ${attempt}, and none came since.`
  }
}

function deadCause(record: AttentionRecord): string {
  const consumer = named(record.consumer)
  const attempts = counted(record.attempt, 'attempt', 'attempts')
  switch (record.cause) {
    case 'not_retryable':
      return `${consumer} failed and said not to retry${errorPart(record)}`
    case 'attempts_lost':
      return `${attempts} of ${consumer} used up, the last without a word, so it may have run`
    default:
      return `${attempts} of ${consumer} used up, the last failed${errorPart(record)}`
  }
}

/** The error's message; the stored text is JSON of `{message, …}` written by the service. */
function errorPart({ error }: AttentionRecord): string {
  if (error === null) return ''
  const { message } = JSON.parse(error) as { message: string }
  return `, with ${quoted(message)}`
}

/** What came too late, and what that means for the effect. */
export function lateCompletionSentence(late: AttentionLateCompletion): string {
  const { count, firstAt, lastAt, state, consumer } = late
  const who = count === 1 ? 'a former owner' : `${count} former owners`
  const when = count === 1 ? `at ${utc(lastAt)}` : `between ${utc(firstAt)} and ${utc(lastAt)}`
  const meaning =
    state === 'completed' ? 'it probably ran more than once' : `it probably ran, though it is ${state} here`
  return `${named(late.class)} ${quoted(late.key)}: ${who} at ${named(consumer)} reported too late, ${when}, to have completed it; ${meaning}.`
}

/** Which key was used with another payload, how often and when. */
export function mismatchSentence({ class: name, consumer, key, count, firstAt, lastAt }: MismatchCount): string {
  const deliveries = count === 1 ? 'at least 1 delivery' : `at least ${count} deliveries`
  const when = count === 1 ? `at ${utc(lastAt)}` : `between ${utc(firstAt)} and ${utc(lastAt)}`
  return `${named(name)} ${quoted(key)} was used with another payload: ${deliveries} to ${named(consumer)}, ${when}; the producer or the choice of the key is wrong.`
}

/** Who is new where. */
export function newConsumerSentence({ class: name, consumer, firstSeenAt, knownSince }: NewConsumer): string {
  return `${named(consumer)} claimed ${named(name)} for the first time at ${utc(firstSeenAt)}; the class is known since ${utc(knownSince)}. A consumer under a new name acts again on events that are redelivered.`
}

/** Which class nobody has looked at. */
export function unreviewedClassSentence(unreviewed: { class: string; firstSeenAt: number }): string {
  return `${named(unreviewed.class)} was first claimed at ${utc(unreviewed.firstSeenAt)} and has no policy of its own; nobody has looked at it yet.`
}

/** Which policy forgets sooner than its source redelivers. */
export function shortRetentionSentence(policyName: string, short: ShortRetention): string {
  return `${named(policyName)}: ${short.sentence}`
}

const happened: Readonly<Record<Exclude<WindowLossCause, 'outage'>, string>> = {
  empty: 'came back empty',
  flushed: 'was flushed',
  evicted: 'evicted keys',
  failed_over: 'failed over',
  replaced: 'was replaced by another server',
}

/** Which windows can't vouch for their keys, why, and until when. */
export function windowLossSentence({ class: name, cause, fromAt, toAt, untilAt }: WindowLoss): string {
  const whose = name === null ? 'every window class' : named(name)
  const twice = `a key may be granted a second time until ${utc(untilAt)}`
  return cause === 'outage'
    ? `Redis could not be asked for ${whose} from ${utc(fromAt)} to ${utc(toAt)}; ${twice}.`
    : `Redis ${happened[cause]}: what ${whose} granted before ${utc(toAt)} may be forgotten, all was last known to be there at ${utc(fromAt)}; ${twice}.`
}
