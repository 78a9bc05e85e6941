import type { ErrorCode } from '@ranbook/contract'
import type { LedgerRecord } from '@ranbook/rules'
import { policyCovers, type ReadOutcome, type SettleCommand, StoreError, settle as settleRule } from '@ranbook/rules'
import { type LedgerDeps, maxRounds, type Scope } from './ledger-deps.ts'

/** One word of an owner about its claim. */
export type SettleItem = { digest: string; claimToken: string; command: SettleCommand }

/** `now` is the store's clock; `record` is how the record stands. */
export type SettleAnswer =
  | { kind: 'settled'; record: LedgerRecord; now: number }
  | { kind: 'refused'; code: ErrorCode; record: LedgerRecord; now: number }
  /** No such record, or outside the caller's scope. */
  | { kind: 'not_found' }

/**
 * Complete, fail, extend and release. Items that name one record are applied in the order given, the others side by
 * side. A complete goes first as one guarded write; where its guard does not hold, and for the other verbs, the record
 * is read, `settle` of the rules judges, and the change is a compare-and-set. Throws `StoreError` for the whole call:
 * outcomes are then unknown and safe to repeat.
 */
export async function settle(deps: LedgerDeps, scope: Scope, items: readonly SettleItem[]): Promise<SettleAnswer[]> {
  const answers: SettleAnswer[] = new Array(items.length)
  let waiting = items.map((item, at) => ({ item, at }))
  while (waiting.length > 0) {
    const wave = new Map<string, { item: SettleItem; at: number }>()
    const later: typeof waiting = []
    for (const entry of waiting) {
      if (wave.has(entry.item.digest)) later.push(entry)
      else wave.set(entry.item.digest, entry)
    }
    await settleWave(deps, scope, [...wave.values()], answers)
    waiting = later
  }
  return answers
}

type OpenSettle = { item: SettleItem; at: number }

async function settleWave(deps: LedgerDeps, scope: Scope, wave: OpenSettle[], answers: SettleAnswer[]): Promise<void> {
  let open = scope.classes.includes('*') ? await completeFirst(deps, scope, wave, answers) : wave
  for (let round = 0; open.length > 0; round++) {
    if (round === maxRounds) throw new StoreError('overloaded', 'a record changed faster than it could be settled')
    open = await judgeRound(deps, scope, open, answers)
  }
}

/** The fast path. The guard can't judge a class pattern, so it is only taken for callers of every class. */
async function completeFirst(
  deps: LedgerDeps,
  scope: Scope,
  wave: OpenSettle[],
  answers: SettleAnswer[],
): Promise<OpenSettle[]> {
  const completes: { digest: string; claimToken: string; consumer: string | null; result: string | null }[] = []
  const entries: OpenSettle[] = []
  const open: OpenSettle[] = []
  for (const entry of wave) {
    const { command, digest, claimToken } = entry.item
    if (command.verb === 'complete') {
      completes.push({ digest, claimToken, consumer: scope.consumer, result: command.result })
      entries.push(entry)
    } else {
      open.push(entry)
    }
  }
  if (completes.length === 0) return open
  const written = await deps.store.completeClaimed(completes)
  for (const [index, entry] of entries.entries()) {
    const done = written[index]
    if (done) {
      answers[entry.at] = { kind: 'settled', ...done }
      deps.observer.settled('complete', done.record)
    } else {
      open.push(entry)
    }
  }
  return open
}

/** Reads, judges and writes; returns those whose compare-and-set lost a race. */
async function judgeRound(
  deps: LedgerDeps,
  scope: Scope,
  open: OpenSettle[],
  answers: SettleAnswer[],
): Promise<OpenSettle[]> {
  const read = await deps.store.read(open.map(({ item }) => ({ digest: item.digest, claimToken: item.claimToken })))
  const writing: {
    entry: OpenSettle
    found: ReadOutcome
    change: Parameters<typeof deps.store.compareAndSet>[0][number]
  }[] = []
  for (const [index, entry] of open.entries()) {
    const found = read[index]
    if (!found || !mayTouch(scope, found.record)) {
      answers[entry.at] = { kind: 'not_found' }
      continue
    }
    const { record, now } = found
    const verdict = judge(deps, entry.item, found)
    if (verdict.kind === 'write') {
      writing.push({ entry, found, change: verdict.change })
    } else if (verdict.kind === 'same') {
      answers[entry.at] = { kind: 'settled', record, now }
    } else {
      if (verdict.lateCompletion) await keepLate(deps, entry.item)
      answers[entry.at] = { kind: 'refused', code: verdict.code, record, now }
    }
  }
  if (writing.length === 0) return []
  const applied = await deps.store.compareAndSet(writing.map(({ change }) => change))
  const lost: OpenSettle[] = []
  for (const [index, { entry, found }] of writing.entries()) {
    const written = applied[index]
    if (written) {
      answers[entry.at] = { kind: 'settled', record: written.record, now: found.now }
      deps.observer.settled(entry.item.command.verb, written.record)
    } else {
      lost.push(entry)
    }
  }
  return lost
}

function judge(deps: LedgerDeps, item: SettleItem, found: ReadOutcome): ReturnType<typeof settleRule> {
  const { record, now } = found
  const token = record.claimToken === item.claimToken ? 'current' : found.tokenSpent ? 'earlier' : 'unknown'
  return settleRule(record, token, item.command, deps.policies.policyFor(record.class), now, deps.random())
}

async function keepLate(deps: LedgerDeps, item: SettleItem): Promise<void> {
  if (item.command.verb !== 'complete') return
  await deps.store.keepLateCompletion({
    digest: item.digest,
    claimToken: item.claimToken,
    result: item.command.result,
  })
}

/** May a caller of this scope see and settle the record? Outside looks like absent. */
export function mayTouch(scope: Scope, record: { class: string; consumer: string }): boolean {
  if (scope.consumer !== null && scope.consumer !== record.consumer) return false
  return scope.classes.some((name) => policyCovers(name, record.class))
}
