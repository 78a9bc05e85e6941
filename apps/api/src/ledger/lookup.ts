import { limits, type Verdict } from '@ranbook/contract'
import {
  type AskedClass,
  type Coverage,
  coverageOf,
  coversClass,
  lookupSentence,
  overallVerdict,
  type RecordStore,
  type SeenPair,
  seesEverything,
  verdictWithoutRecord,
} from '@ranbook/rules'
import type { ClassBook } from './class-book.ts'
import { describeRecords, type FoundRecord, type RecordAnswer } from './describe-records.ts'
import { type Finding, findById, findByKey, findByMention } from './find-records.ts'
import type { Scope } from './ledger-deps.ts'
import { mayTouch } from './settle.ts'

export type LookupDeps = {
  store: Pick<RecordStore, 'readFull' | 'readHistory' | 'search'>
  classes: Pick<ClassBook, 'pairsSeen' | 'ledgerBeganAt'>
  /** ms since 1970, for answers that no store was asked for. */
  now: () => number
}

/** "Did this ever run?" `at` in ms: when the event occurred; null: since the ledger began. */
export type Question = { q: string; class: string | null; consumer: string | null; at: number | null }

/** `records` newest first; `more`: further ones match. `scope_too_wide`: a class or consumer must be named. */
export type LookupAnswer =
  | {
      kind: 'answered'
      verdict: Verdict
      sentence: string
      checkedAt: number
      records: RecordAnswer[]
      more: boolean
      coverage: Coverage[]
    }
  | { kind: 'scope_too_wide' }

/**
 * Answers from what the caller may read. A text is tried as everything it can be: a key of every (consumer, class) pair
 * seen, an id, an idempotency key, a reference, `source#seq`. Pairs are stored before their first claim is granted and
 * read again after the records, so no record that stood at `checkedAt` is overlooked. A class or consumer outside the
 * scope is `unknown`, whether or not it exists.
 */
export async function lookup(deps: LookupDeps, scope: Scope, question: Question): Promise<LookupAnswer> {
  const beganAt = await deps.classes.ledgerBeganAt()
  const outOfScope =
    (question.class !== null && !coversClass(scope.classes, question.class)) ||
    (question.consumer !== null && scope.consumer !== null && question.consumer !== scope.consumer)
  const search = outOfScope ? nothingAsked(deps.now()) : await searchAll(deps, scope, question)
  if (search === 'scope_too_wide') return { kind: 'scope_too_wide' }

  const coverage = coverageOf(search.classes, beganAt, question.at)
  const newestFirst = search.found.sort((a, b) => b.record.firstClaimedAt - a.record.firstClaimedAt)
  const more = search.more || newestFirst.length > limits.pageMaxItems
  const records = await describeRecords(deps.store, newestFirst.slice(0, limits.pageMaxItems))
  const verdict =
    records.length > 0
      ? overallVerdict(records.map((answer) => answer.verdict))
      : outOfScope
        ? 'unknown'
        : verdictWithoutRecord(coverage, question.at)
  const decisive = records.find((answer) => answer.verdict === verdict)
  const sentence = lookupSentence({
    question: question.q,
    verdict,
    found: decisive === undefined ? null : { sentence: decisive.sentence, others: records.length - 1, more },
    at: question.at,
    beganAt,
    checkedAt: search.checkedAt,
    coverage,
    scope: seesEverything(scope) ? null : scope,
    outOfScope,
  })
  return { kind: 'answered', verdict, sentence, checkedAt: search.checkedAt, records, more, coverage }
}

type Search = { found: FoundRecord[]; checkedAt: number; more: boolean; classes: AskedClass[] }

function nothingAsked(checkedAt: number): Search {
  return { found: [], checkedAt, more: false, classes: [] }
}

async function searchAll(deps: LookupDeps, scope: Scope, question: Question): Promise<Search | 'scope_too_wide'> {
  const { store } = deps
  const byId = await findById(store, question.q)
  const before = await pairsAsked(deps, scope, question)
  if (before === null) return idAlone(byId, scope, question)
  const byKey = await findByKey(store, question.q, before)
  const byMention = await findByMention(store, scope, question)
  const after = await pairsAsked(deps, scope, question)
  if (after === null) return 'scope_too_wide'
  const known = new Set(before.map(pairText))
  const newcomers = await findByKey(
    store,
    question.q,
    after.filter((pair) => !known.has(pairText(pair))),
  )

  const findings = [byId, byKey, newcomers, byMention]
  const found = new Map(findings.toReversed().flatMap((finding) => asked(finding, scope, question)))
  const firstLook = Math.min(...findings.map(({ now }) => now))
  return {
    found: [...found.values()],
    checkedAt: Number.isFinite(firstLook) ? firstLook : deps.now(),
    more: byMention.more,
    classes: classesAsked(after, question),
  }
}

/** Too many pairs to try the text as a key of each: an id names its record all the same. */
function idAlone(byId: Finding, scope: Scope, question: Question): Search | 'scope_too_wide' {
  const found = asked(byId, scope, question).map(([, item]) => item)
  if (found.length === 0) return 'scope_too_wide'
  const classes = found.map(({ record }) => ({ class: record.class, firstSeenAt: record.firstClaimedAt }))
  return { found, checkedAt: byId.now, more: false, classes }
}

/** Null: more than one lookup tries. */
async function pairsAsked(deps: LookupDeps, scope: Scope, question: Question): Promise<SeenPair[] | null> {
  const pairs = await deps.classes.pairsSeen(scope, question, limits.lookupMaxPairs + 1)
  return pairs.length > limits.lookupMaxPairs ? null : pairs
}

function asked(finding: Finding, scope: Scope, question: Question): [string, FoundRecord][] {
  return [...finding.found].filter(
    ([, { record }]) =>
      mayTouch(scope, record) &&
      (question.class === null || question.class === record.class) &&
      (question.consumer === null || question.consumer === record.consumer),
  )
}

/** Names hold no control characters, so no two pairs share a text. */
function pairText(pair: SeenPair): string {
  return `${pair.consumer}\n${pair.class}`
}

function classesAsked(pairs: readonly SeenPair[], question: Question): AskedClass[] {
  const firstSeen = new Map<string, number | null>()
  if (question.class !== null) firstSeen.set(question.class, null)
  for (const pair of pairs) {
    const earlier = firstSeen.get(pair.class) ?? Number.POSITIVE_INFINITY
    firstSeen.set(pair.class, Math.min(earlier, pair.firstSeenAt))
  }
  return [...firstSeen].map(([name, firstSeenAt]) => ({ class: name, firstSeenAt }))
}
