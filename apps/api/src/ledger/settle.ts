import type { ErrorCode } from '@ranbook/contract'
import {
  type Change,
  type CompleteRequest,
  coversRecord,
  defaultPolicy,
  type LateCompletion,
  type LedgerRecord,
  type ParsedRecordId,
  type ReadOutcome,
  type Scope,
  type SettleCommand,
  type Settlement,
  StoreError,
  settle as settleRule,
} from '@ranbook/rules'
import { change } from './change.ts'
import { groupBy } from './group-by.ts'
import { askFor, ItemFailure } from './item-failure.ts'
import { type LedgerDeps, maxRounds } from './ledger-deps.ts'
import { readById } from './read-by-id.ts'

/** One word of an owner about its claim. */
export type SettleItem = ParsedRecordId & { claimToken: string; command: SettleCommand }

/** `now` is the store's clock; `record` is how the record stands. */
export type SettleAnswer =
  | { kind: 'settled'; record: LedgerRecord; now: number }
  | { kind: 'refused'; code: ErrorCode; record: LedgerRecord; now: number }
  /** No such record, or outside the caller's scope. */
  | { kind: 'not_found' }

type Answers = (SettleAnswer | ItemFailure)[]

/**
 * Complete, fail, extend and release. Items that name one record are applied in the order given, the others side by
 * side. A complete goes first as one guarded write; where its guard does not hold, and for the other verbs, the record
 * is read, `settle` of the rules judges, and the change is a compare-and-set. Where a store call fails, the items it was
 * made for are failures, and so are later items of their records, which are not tried: safe to repeat in this order.
 */
export async function settle(deps: LedgerDeps, scope: Scope, items: readonly SettleItem[]): Promise<Answers> {
  const answers: Answers = new Array(items.length)
  let waiting = items.map((item, at) => ({ item, at }))
  while (waiting.length > 0) {
    const wave = new Map<string, { item: SettleItem; at: number }>()
    const later: typeof waiting = []
    for (const entry of waiting) {
      const named = nameOf(entry.item)
      if (wave.has(named)) later.push(entry)
      else wave.set(named, entry)
    }
    await settleWave(deps, scope, [...wave.values()], answers)
    waiting = later.filter(({ item, at }) => {
      const before = answers[wave.get(nameOf(item))?.at ?? at]
      if (before instanceof ItemFailure) answers[at] = before
      return !(before instanceof ItemFailure)
    })
  }
  return answers
}

function nameOf({ store, digest }: ParsedRecordId): string {
  return `${store}${digest}`
}

type OpenSettle = { item: SettleItem; at: number }

async function settleWave(deps: LedgerDeps, scope: Scope, wave: OpenSettle[], answers: Answers): Promise<void> {
  let open = scope.classes.includes('*') ? await completeFirst(deps, scope, wave, answers) : wave
  for (let round = 0; open.length > 0; round++) {
    if (round === maxRounds) {
      const failure = new ItemFailure(new StoreError('overloaded', 'a record changed faster than it could be settled'))
      for (const { at } of open) answers[at] = failure
      return
    }
    open = await judgeRound(deps, scope, open, answers)
  }
}

/** The ledger's fast path. The guard can't judge a class pattern, so it is only taken for callers of every class. */
async function completeFirst(
  deps: LedgerDeps,
  scope: Scope,
  wave: OpenSettle[],
  answers: Answers,
): Promise<OpenSettle[]> {
  const completes: (OpenSettle & { request: CompleteRequest })[] = []
  const open: OpenSettle[] = []
  for (const entry of wave) {
    const { command, digest, claimToken, store } = entry.item
    if (command.verb === 'complete' && store === 'ledger') {
      completes.push({ ...entry, request: { digest, claimToken, consumer: scope.consumer, result: command.result } })
    } else {
      open.push(entry)
    }
  }
  for (const [{ item, at }, done] of await askFor(completes, answers, (entries) =>
    deps.store.completeClaimed(entries.map(({ request }) => request)),
  )) {
    if (done === null) {
      open.push({ item, at })
    } else {
      answers[at] = { kind: 'settled', ...done }
      deps.observer.settled('complete', done.record)
    }
  }
  return open
}

/** Reads, judges and writes; returns those whose compare-and-set lost a race. */
async function judgeRound(deps: LedgerDeps, scope: Scope, open: OpenSettle[], answers: Answers): Promise<OpenSettle[]> {
  const writing: (OpenSettle & { now: number; change: Change })[] = []
  const late: (OpenSettle & { kept: Omit<LateCompletion, 'at'> })[] = []
  for (const [entry, found] of await readEach(deps, open, answers)) {
    if (found === null || !coversRecord(scope, found.record)) {
      answers[entry.at] = { kind: 'not_found' }
      continue
    }
    try {
      const { record, now } = found
      const verdict = judge(deps, entry.item, found)
      if (verdict.kind === 'write') {
        writing.push({ ...entry, now, change: verdict.change })
      } else if (verdict.kind === 'same') {
        answers[entry.at] = { kind: 'settled', record, now }
      } else {
        answers[entry.at] = { kind: 'refused', code: verdict.code, record, now }
        const { claimToken, command, digest } = entry.item
        if (verdict.lateCompletion && command.verb === 'complete' && record.window === null) {
          late.push({ ...entry, kept: { digest, claimToken, result: command.result } })
        }
      }
    } catch (error) {
      answers[entry.at] = new ItemFailure(error)
    }
  }
  await askFor(late, answers, async (entries) => {
    await deps.store.keepLateCompletions(entries.map(({ kept }) => kept))
    return []
  })

  const lost: OpenSettle[] = []
  for (const items of groupBy(writing, ({ change: { record } }) => record.window?.place).values()) {
    for (const [{ item, at, now }, written] of await askFor(items, answers, (entries) =>
      change(
        deps,
        entries.map((entry) => entry.change),
      ),
    )) {
      if (written === null) {
        lost.push({ item, at })
      } else {
        answers[at] = { kind: 'settled', record: written.record, now }
        deps.observer.settled(item.command.verb, written.record)
      }
    }
  }
  return lost
}

/** How the records stand, each looked for where its id says it can be. */
async function readEach(
  deps: LedgerDeps,
  open: readonly OpenSettle[],
  answers: Answers,
): Promise<(readonly [OpenSettle, ReadOutcome | null])[]> {
  const found: (readonly [OpenSettle, ReadOutcome | null])[] = []
  for (const [store, entries] of groupBy(open, ({ item }) => item.store)) {
    found.push(
      ...(await askFor(entries, answers, (asked) =>
        readById(
          deps,
          store,
          asked.map(({ item }) => ({ digest: item.digest, claimToken: item.claimToken })),
        ),
      )),
    )
  }
  return found
}

function judge(deps: LedgerDeps, { claimToken, command }: SettleItem, found: ReadOutcome): Settlement {
  const { record, now, tokenSpent } = found
  const token = record.claimToken === claimToken ? 'current' : tokenSpent ? 'earlier' : 'unknown'
  // No other verb needs the policy, and one that a newer version wrote must not keep a claim from being settled.
  const policy = command.verb === 'fail' ? deps.policies.policyFor(record.class) : defaultPolicy
  return settleRule(record, token, command, policy, now, deps.random())
}
