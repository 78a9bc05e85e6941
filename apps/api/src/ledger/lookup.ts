import { limits, type Verdict } from '@ranbook/contract'
import {
  type AskedClass,
  type Coverage,
  coverageOf,
  coversClass,
  coversRecord,
  type KeptFacts,
  lookupSentence,
  overallVerdict,
  type RecordStore,
  type Scope,
  type SeenPair,
  seesEverything,
  verdictWithoutRecord,
  type WindowPlace,
  windowPlacesOf,
} from '@ranbook/rules'
import type { ClassBook } from './class-book.ts'
import { describeRecords, type FoundRecord, type RecordAnswer } from './describe-records.ts'
import { type AskedPair, type Finding, findById, findByKey, findByMention } from './find-records.ts'
import type { Windows } from './windows.ts'

export type LookupDeps = {
  store: Pick<RecordStore, 'readHistory' | 'search'>
  windows: Pick<Windows, 'storeAt' | 'placesAsked' | 'confirmed'>
  classes: Pick<ClassBook, 'pairsSeen' | 'readKept' | 'ledgerBeganAt'>
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
 * seen, in the ledger and in every window that may hold their class, an id, an idempotency key, and in the ledger a
 * reference or `source#seq`. Pairs, and the places of a class, are stored before a claim is granted; pairs are read again
 * after the records, so no record that stood at `checkedAt` is overlooked. What may have been forgotten or lost is read
 * after the records too: a record that was gone by then is told of there. A class or consumer outside the scope is
 * `unknown`, whether or not it exists, and so is a class of which a window can't be asked.
 */
export async function lookup(deps: LookupDeps, scope: Scope, question: Question): Promise<LookupAnswer> {
  const beganAt = await deps.classes.ledgerBeganAt()
  const outOfScope =
    (question.class !== null && !coversClass(scope.classes, question.class)) ||
    (question.consumer !== null && scope.consumer !== null && question.consumer !== scope.consumer)
  const search = outOfScope ? nothingAsked(deps.now()) : await searchAll(deps, scope, question)
  if (search === 'scope_too_wide') return { kind: 'scope_too_wide' }

  const { checkedAt, more } = search
  const limited = !seesEverything(scope) || question.class !== null || question.consumer !== null
  const coverage = await coverageKnown(deps, search, { at: question.at, limited, beganAt })
  const newestFirst = search.found.sort((a, b) => b.record.firstClaimedAt - a.record.firstClaimedAt)
  const found = await describeRecords(deps.store, newestFirst)
  const verdict =
    found.length > 0
      ? verdictOver(found, search)
      : outOfScope
        ? 'unknown'
        : verdictWithoutRecord(coverage, { at: question.at, limited })
  const decisive = found.find((answer) => answer.verdict === verdict)
  const sentence = lookupSentence({
    question: question.q,
    verdict,
    found: found.length === 0 ? null : { sentence: decisive?.sentence ?? null, count: found.length, more },
    at: question.at,
    beganAt,
    checkedAt,
    coverage,
    only: question,
    scope: seesEverything(scope) ? null : scope,
    outOfScope,
  })
  const records = pageWith(decisive, found)
  return {
    kind: 'answered',
    verdict,
    sentence,
    checkedAt,
    records,
    more: more || found.length > records.length,
    coverage,
  }
}

/** Before it is said that an event never ran, Redis is looked at again: it may have lost a record that nobody missed yet. */
async function coverageKnown(
  { windows, classes }: LookupDeps,
  search: Search,
  { at, limited, beganAt }: { at: number | null; limited: boolean; beganAt: number },
): Promise<Coverage[]> {
  const { checkedAt, inRedis } = search
  const judge = (kept: KeptFacts, unreachable: ReadonlySet<string>): Coverage[] =>
    coverageOf(search.classes, { beganAt, checkedAt, kept, unreachable }, at)
  const coverage = judge(search.kept, search.unreachable)
  const isNever = search.found.length === 0 && verdictWithoutRecord(coverage, { at, limited }) === 'never'
  if (!isNever || inRedis.size === 0) return coverage
  if (!(await windows.confirmed('redis'))) return judge(search.kept, new Set([...search.unreachable, ...inRedis]))
  return judge(await classes.readKept([...search.kept.classes.keys()]), search.unreachable)
}

/** Over every record that matches: what was not looked at weighs no more than what was, see `findByMention`. */
function verdictOver(found: readonly RecordAnswer[], { mayRun }: Search): Verdict {
  const verdict = overallVerdict(found.map((answer) => answer.verdict))
  return verdict === 'interrupted' && mayRun ? 'unknown' : verdict
}

/** The newest, and the one that decides among them. */
function pageWith(decisive: RecordAnswer | undefined, newestFirst: RecordAnswer[]): RecordAnswer[] {
  const page = newestFirst.slice(0, limits.pageMaxItems)
  if (decisive === undefined || page.includes(decisive)) return page
  return [...page.slice(0, -1), decisive]
}

/** `mayRun`: see `Finding`. */
type Looked = { found: FoundRecord[]; checkedAt: number; more: boolean; mayRun: boolean }
/** `kept` was read after everything else. `inRedis`: classes that were asked for there. */
type Search = Looked & {
  classes: AskedClass[]
  kept: KeptFacts
  unreachable: ReadonlySet<string>
  inRedis: ReadonlySet<string>
}

function nothingAsked(checkedAt: number): Search {
  const kept = { now: checkedAt, classes: new Map(), losses: [] }
  const none = { found: [], classes: [], unreachable: new Set<string>(), inRedis: new Set<string>() }
  return { ...none, checkedAt, more: false, mayRun: false, kept }
}

async function searchAll(deps: LookupDeps, scope: Scope, question: Question): Promise<Search | 'scope_too_wide'> {
  const byId = await findById(deps, question.q)
  const byMention = await findByMention(deps.store, scope, question)
  const before = await pairsAsked(deps, scope, question)
  if (before === null) return withoutKeys(deps, [byId, byMention], scope, question)
  const keptBefore = await deps.classes.readKept(classNames(before))
  const asked = before.map(withPlaces(deps, keptBefore))
  const byKey = await findByKey(deps, question.q, asked)
  const after = await pairsAsked(deps, scope, question)
  if (after === null) return 'scope_too_wide'
  const known = new Set(before.map(pairText))
  const fresh = after.filter((pair) => !known.has(pairText(pair))).map(withPlaces(deps, keptBefore))
  const newcomers = await findByKey(deps, question.q, fresh)

  const looked = merged(deps, [byId, byKey, newcomers, byMention], scope, question)
  return {
    ...looked,
    // A place that a class came to only afterwards was not asked.
    checkedAt: Math.min(looked.checkedAt, keptBefore.now),
    classes: classesAsked(after, question),
    kept: await deps.classes.readKept(classNames(after)),
    unreachable: new Set([...byKey.unreachable, ...newcomers.unreachable]),
    inRedis: new Set([...asked, ...fresh].flatMap((pair) => (pair.places.includes('redis') ? [pair.class] : []))),
  }
}

function classNames(pairs: readonly SeenPair[]): string[] {
  return [...new Set(pairs.map((pair) => pair.class))]
}

function withPlaces({ windows }: LookupDeps, { classes, now }: KeptFacts): (pair: SeenPair) => AskedPair {
  return (pair) => {
    const kept = classes.get(pair.class)
    const places: readonly WindowPlace[] = kept === undefined ? windows.placesAsked() : windowPlacesOf(kept, now)
    return { ...pair, places }
  }
}

/** Of a record that several findings hold, the first counts. */
function merged(deps: LookupDeps, findings: readonly Finding[], scope: Scope, question: Question): Looked {
  const found = new Map(findings.toReversed().flatMap((finding) => asked(finding, scope, question)))
  const firstLook = Math.min(...findings.map(({ now }) => now))
  return {
    found: [...found.values()],
    checkedAt: Number.isFinite(firstLook) ? firstLook : deps.now(),
    more: findings.some(({ more }) => more),
    mayRun: findings.some(({ mayRun }) => mayRun),
  }
}

/** Too many pairs to try the text as a key of each: an id names its record all the same, and the classes are its own. */
async function withoutKeys(
  deps: LookupDeps,
  findings: readonly [byId: Finding, byMention: Finding],
  scope: Scope,
  question: Question,
): Promise<Search | 'scope_too_wide'> {
  if (asked(findings[0], scope, question).length === 0) return 'scope_too_wide'
  const search = merged(deps, findings, scope, question)
  const pairs: SeenPair[] = []
  for (const pair of new Map(search.found.map(({ record }) => [pairText(record), record])).values()) {
    pairs.push(...(await deps.classes.pairsSeen(scope, pair, 1)))
  }
  const kept = await deps.classes.readKept(classNames(pairs))
  return { ...search, classes: classesAsked(pairs, question), kept, unreachable: new Set(), inRedis: new Set() }
}

/** Null: more than one lookup tries. */
async function pairsAsked(deps: LookupDeps, scope: Scope, question: Question): Promise<SeenPair[] | null> {
  const pairs = await deps.classes.pairsSeen(scope, question, limits.lookupMaxPairs + 1)
  return pairs.length > limits.lookupMaxPairs ? null : pairs
}

function asked(finding: Finding, scope: Scope, question: Question): [string, FoundRecord][] {
  return [...finding.found].filter(
    ([, { record }]) =>
      coversRecord(scope, record) &&
      (question.class === null || question.class === record.class) &&
      (question.consumer === null || question.consumer === record.consumer),
  )
}

/** Names hold no control characters, so no two pairs share a text. */
function pairText(pair: Pick<SeenPair, 'consumer' | 'class'>): string {
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
