import type { LedgerRecord } from '@ranbook/rules'
import type { HistoryEntry } from './concurrent-history.ts'

type Span = { invokedAt: number; answeredAt: number }
type Grant = Span &
  Pick<LedgerRecord, 'claimToken' | 'fencingToken' | 'generation' | 'attempt' | 'leaseMs' | 'onLeaseExpiry'>
type Word = Span & {
  claimToken: string
  verb: 'complete' | 'fail' | 'extend' | 'release'
  leaseMs: number
  stood: LedgerRecord
}
type Decision = Span & { decision: 'completed' | 'retry' | 'dead' | 'skipped'; stood: LedgerRecord }
type Seen = Span & { stood: LedgerRecord }
type Stale = Span & { claimToken: string }

/** What the callers of one key were told. */
type KeyHistory = { grants: Grant[]; words: Word[]; decisions: Decision[]; duplicates: Seen[]; stale: Stale[] }

/**
 * The promises S1–S5, S8, S9, S11 and S12 that a history breaks, one sentence each; none for a sound one. It looks at
 * nothing but requests, answers and their times, and at each key by itself.
 */
export function brokenPromises(entries: readonly HistoryEntry[]): string[] {
  const keys = new Map<string, KeyHistory>()
  for (const entry of entries) note(keys, entry)
  return [...keys].flatMap(([digest, history]) => {
    history.grants.sort((a, b) => a.fencingToken - b.fencingToken)
    const broken = [
      ...oneGrantPerAttempt(history),
      ...nextAttempts(history),
      ...displacedOwners(history),
      ...results(history),
      ...tokens(history),
      ...believedOwners(history),
    ]
    return broken.map((sentence) => `${sentence} (${digest})`)
  })
}

function note(keys: Map<string, KeyHistory>, { operation, answer, invokedAt, answeredAt }: HistoryEntry): void {
  if (operation.do === 'sweep' || operation.do === 'tally' || answer === null || 'swept' in answer) return
  const span = { invokedAt, answeredAt }
  const digest = operation.do === 'claim' ? operation.request.digest : operation.digest
  const history = keys.get(digest) ?? { grants: [], words: [], decisions: [], duplicates: [], stale: [] }
  keys.set(digest, history)
  if ('outcome' in answer) {
    if (answer.outcome === 'claimed') noteGrant(history, { ...span, ...answer.record })
    if (answer.outcome === 'duplicate') history.duplicates.push({ ...span, stood: answer.record })
  } else if (operation.do === 'settle') {
    const { claimToken, command } = operation
    if (answer.kind === 'settled') {
      const leaseMs = (command.verb === 'extend' ? command.leaseMs : null) ?? answer.record.leaseMs
      history.words.push({ ...span, claimToken, verb: command.verb, leaseMs, stood: answer.record })
    }
    if (answer.kind === 'refused' && answer.code === 'stale_claim') history.stale.push({ ...span, claimToken })
  } else if (operation.do === 'resolve' && answer.kind === 'resolved') {
    history.decisions.push({ ...span, decision: operation.command.decision, stood: answer.record })
  }
}

/** The same claim repeated is the same grant: it was made before the first answer that told of it. */
function noteGrant({ grants }: KeyHistory, grant: Grant): void {
  const known = grants.find(
    (other) => other.fencingToken === grant.fencingToken && other.claimToken === grant.claimToken,
  )
  if (!known) {
    grants.push(grant)
    return
  }
  known.invokedAt = Math.min(known.invokedAt, grant.invokedAt)
  known.answeredAt = Math.min(known.answeredAt, grant.answeredAt)
}

const said = ({ words }: KeyHistory, grant: Grant, verb: Word['verb']): Word[] =>
  words.filter((word) => word.verb === verb && word.claimToken === grant.claimToken)

function oneGrantPerAttempt(history: KeyHistory): string[] {
  const kept = history.grants.filter((grant) => said(history, grant, 'release').length === 0)
  const attempts = kept.map(({ generation, attempt }) => `${generation}.${attempt}`)
  const numbers = history.grants.map(({ fencingToken }) => fencingToken)
  return [
    ...repeated(attempts).map((attempt) => `S1: attempt ${attempt} was granted to two tokens`),
    ...repeated(numbers).map((number) => `S1: two tokens hold the fencing number ${number}`),
  ]
}

/** What allowed each grant to follow the one before it, and what its numbers are. */
function nextAttempts(history: KeyHistory): string[] {
  const broken: string[] = []
  for (const [at, grant] of history.grants.entries()) {
    const before = history.grants[at - 1]
    if (before === undefined) {
      if (grant.attempt !== 1) broken.push(`S9: the first grant has attempt ${grant.attempt}`)
      continue
    }
    const [released, failed] = [said(history, before, 'release'), said(history, before, 'fail')]
    const sentBack = history.decisions.filter(({ decision }) => decision === 'retry')
    const invited = [...released, ...failed, ...sentBack].some(
      ({ invokedAt, answeredAt }) => invokedAt < grant.answeredAt && answeredAt > before.invokedAt,
    )
    const step = grant.attempt - before.attempt
    if (grant.generation !== before.generation) broken.push(`S9: generation ${grant.generation} without a replay`)
    if (step !== 1 && !(step === 0 && released.length > 0)) {
      broken.push(`S9: attempt ${grant.attempt} follows ${before.attempt}`)
    }
    const renewals = [before, ...said(history, before, 'extend')]
    const early = renewals.some(({ invokedAt, leaseMs }) => grant.answeredAt - invokedAt < leaseMs)
    if (!invited && before.onLeaseExpiry === 'hold') {
      broken.push(`S11: attempt ${grant.attempt} was granted though nobody decided about a held one`)
    } else if (!invited && early) {
      broken.push(`S2: attempt ${grant.attempt} was granted while the lease before it was live`)
    }
    const earlier = history.grants.find(
      (other) => other.invokedAt > grant.answeredAt && other.fencingToken < grant.fencingToken,
    )
    if (earlier) broken.push(`S9: the fencing number fell from ${grant.fencingToken} to ${earlier.fencingToken}`)
  }
  return broken
}

function displacedOwners({ grants, words }: KeyHistory): string[] {
  return words.flatMap(({ claimToken, verb, invokedAt }) => {
    const at = grants.findIndex((grant) => grant.claimToken === claimToken)
    if (at === -1) return [`S3: ${verb} was accepted from a token that was never granted`]
    const next = grants[at + 1]
    if (next === undefined || invokedAt <= next.answeredAt) return []
    return [`S3: ${verb} was accepted from the displaced owner of attempt ${grants[at]?.attempt}`]
  })
}

function results({ grants, words, decisions, duplicates }: KeyHistory): string[] {
  const completions: Seen[] = [
    ...words.filter(({ verb }) => verb === 'complete'),
    ...decisions.filter(({ decision }) => decision === 'completed'),
    ...duplicates.filter(({ stood }) => stood.state === 'completed'),
  ]
  const texts = new Set(completions.map(({ stood }) => stood.result))
  const known = Math.min(...completions.map(({ answeredAt }) => answeredAt))
  const reopened = grants.filter(({ invokedAt }) => invokedAt > known)
  return [
    ...(texts.size > 1 ? [`S4: it was shown with the results ${[...texts].join(' and ')}`] : []),
    ...reopened.map(({ attempt }) => `S5: attempt ${attempt} was granted after it had completed`),
  ]
}

function tokens({ grants }: KeyHistory): string[] {
  return repeated(grants.map(({ claimToken }) => claimToken)).map(
    (token) => `S8: the token ${token} obtained two attempts`,
  )
}

/** A token that was granted is refused only where somebody else was granted or an operator decided. */
function believedOwners({ grants, decisions, stale }: KeyHistory): string[] {
  return stale.flatMap((refusal) => {
    const grant = grants.find(({ claimToken }) => claimToken === refusal.claimToken)
    if (!grant || grant.answeredAt > refusal.invokedAt) return []
    const displaced = grants.some(
      (other) => other.fencingToken > grant.fencingToken && other.invokedAt < refusal.answeredAt,
    )
    const decided = decisions.some(({ invokedAt }) => invokedAt < refusal.answeredAt)
    return displaced || decided ? [] : [`S12: the owner of attempt ${grant.attempt} was refused`]
  })
}

function repeated<T>(values: readonly T[]): T[] {
  return values.filter((value, at) => values.indexOf(value) !== at)
}
