import {
  type Change,
  type ClaimRequest,
  type ClaimStore,
  type Decision,
  decide,
  grantFirst,
  type InsertOutcome,
  type LedgerRecord,
  type NewRecord,
  type Place,
  type ReadRequest,
  StoreError,
  shortFingerprint,
  type WindowPlace,
} from '@ranbook/rules'
import { boundOfGrant, change } from './change.ts'
import { groupBy } from './group-by.ts'
import { IdentityCollision } from './identity-collision.ts'
import { insertOrRead } from './insert-or-read.ts'
import { askFor, ItemFailure } from './item-failure.ts'
import { type LedgerDeps, maxRounds } from './ledger-deps.ts'
import { ClassMoving, ledgerRoute, type Route } from './windows.ts'

/** One answered claim; `now` is the store's clock it was judged by. */
export type ClaimAnswer = Pick<Decision, 'outcome' | 'record' | 'retryAfterMs'> & { now: number }

type Answers = (ClaimAnswer | ItemFailure)[]
type OpenClaim = { at: number; request: ClaimRequest }
type StandingClaim = OpenClaim & { standing: InsertOutcome }
type RoutedClaim = OpenClaim & { route: Route }

/**
 * Answers claims in the order given. Older places of the class are asked first, then: insert; where a record stands,
 * decide; where that needs a change, compare-and-set; where that loses a race, read and decide again. An answer is given
 * only after what it says is durable. Where a store call fails, the claims it was made for are failures, to be repeated
 * with the same tokens; so is a claim whose stored key is another one (`IdentityCollision`), and one whose class moves or
 * has no window to be granted in. Throws where nothing was tried: `PoliciesStale`, or a `StoreError` of the pairs.
 */
export async function claim(deps: LedgerDeps, requests: readonly ClaimRequest[]): Promise<Answers> {
  deps.policies.requireFresh()
  const unknownPairs = requests.filter((r) => !deps.pairs.has(r.consumer, r.class))
  if (unknownPairs.length > 0) await deps.pairs.add(unknownPairs)

  const answers: Answers = new Array(requests.length)
  let open: StandingClaim[] = await findOrInsert(
    deps,
    requests.map((request, at) => ({ at, request })),
    answers,
  )
  for (let round = 0; open.length > 0; round++) {
    if (round === maxRounds) {
      const failure = new ItemFailure(new StoreError('overloaded', 'a record changed faster than it could be claimed'))
      for (const { at } of open) answers[at] = failure
      break
    }
    open = await decideRound(deps, open, answers)
  }
  return answers
}

/** Grants where no place of the class knows the key; returns the claims of records that stand. */
async function findOrInsert(
  deps: LedgerDeps,
  claims: readonly OpenClaim[],
  answers: Answers,
): Promise<StandingClaim[]> {
  const routed = judgeEach(claims, answers, ({ request }) => deps.windows.routeOf(request.class)).map(
    ({ judged: route, ...item }): RoutedClaim => ({ ...item, route }),
  )
  const plain = routed.filter(({ route }) => route === ledgerRoute)
  const other = routed.filter(({ route }) => route !== ledgerRoute)
  // Nearly all claims: none of the others' ways is waited for.
  const inLedger = insert(deps, plain, answers)
  const elsewhere = other.length === 0 ? [] : await throughPlaces(deps, other, answers)
  return [...(await inLedger), ...elsewhere]
}

/** Asks the older places of each claim in turn; a key that none knows is granted where the route says. */
async function throughPlaces(
  deps: LedgerDeps,
  claims: readonly RoutedClaim[],
  answers: Answers,
): Promise<StandingClaim[]> {
  const open: StandingClaim[] = []
  let unknown = [...claims]
  for (let step = 0; unknown.some(({ route }) => step < route.older.length); step++) {
    const asked = groupBy(unknown, ({ route }) => route.older[step] ?? null)
    unknown = asked.get(null) ?? []
    for (const [place, items] of asked) {
      if (place === null) continue
      const found = await askFor(items, answers, (group) => placeStore(deps, place).read(group.map(readRequest)))
      for (const [item, standing] of found) {
        if (standing === null) unknown.push(item)
        else open.push({ at: item.at, request: item.request, standing: { inserted: false, ...standing } })
      }
    }
  }
  const granted: RoutedClaim[] = []
  for (const item of unknown) {
    if (item.route.grant instanceof Error) answers[item.at] = new ItemFailure(item.route.grant)
    else granted.push(item)
  }
  return [...open, ...(await insert(deps, granted, answers))]
}

/** Grants where nothing stands in the place of the route; returns the claims of records that stand there. */
async function insert(deps: LedgerDeps, claims: readonly RoutedClaim[], answers: Answers): Promise<StandingClaim[]> {
  const news = judgeEach(claims, answers, ({ request, route }) =>
    grantFirst(request, deps.policies.policyFor(request.class), route.grant instanceof Error ? null : route.grant),
  )
  const open: StandingClaim[] = []
  for (const [place, items] of groupBy(news, ({ judged }) => judged.window?.place ?? 'ledger')) {
    const outcomes = await askFor(items, answers, async (group) => {
      const records = group.map(({ judged }): NewRecord => judged)
      if (place === 'ledger') return insertOrRead(deps.store, records)
      const covering = deps.windows.cover(records.flatMap((record) => boundOfGrant(record, deps)))
      if (covering !== null) {
        await covering
        for (const { request } of group) requireSameGrant(deps, request.class, place)
      }
      return deps.windows.storeAt(place).insertIfAbsent(records)
    })
    for (const [{ at, request }, standing] of outcomes) {
      if (standing instanceof ItemFailure) {
        answers[at] = standing
      } else if (standing.inserted) {
        answers[at] = { outcome: 'claimed', record: standing.record, retryAfterMs: null, now: standing.now }
        deps.observer.claimed(standing.record)
      } else {
        open.push({ at, request, standing })
      }
    }
  }
  return open
}

/** A write that was waited for may have taken long enough for the class to have moved: then nobody grants by the old way. */
function requireSameGrant(deps: LedgerDeps, className: string, place: WindowPlace): void {
  const { grant } = deps.windows.routeOf(className)
  if (grant instanceof Error) throw grant
  if (grant?.place !== place) throw new ClassMoving(`${className} changed its store meanwhile`)
}

/** Decides every open claim, applies the changes, and returns those that lost a race with what stands there now. */
async function decideRound(
  deps: LedgerDeps,
  open: readonly StandingClaim[],
  answers: Answers,
): Promise<StandingClaim[]> {
  const decided = judgeEach(open, answers, ({ request, standing }) => {
    const { record } = standing
    IdentityCollision.refuse(record, request)
    const asked = record.window === null ? request : { ...request, fingerprint: shortFingerprint(request.fingerprint) }
    return decide(standing, asked, deps.policies.policyFor(request.class), deps.random())
  })
  const changing: (StandingClaim & { decision: Decision; change: Change })[] = []
  for (const { judged: decision, ...item } of decided) {
    const { record, now } = item.standing
    if (decision.change !== null) {
      changing.push({ ...item, decision, change: decision.change })
      continue
    }
    answers[item.at] = { outcome: decision.outcome, record, retryAfterMs: decision.retryAfterMs, now }
    deps.observer.answered(decision.outcome, record, now)
  }

  const lost: StandingClaim[] = []
  for (const items of groupBy(changing, ({ standing }) => standing.record.window?.place).values()) {
    const written = await askFor(items, answers, (group) =>
      change(
        deps,
        group.map((item) => item.change),
      ),
    )
    for (const [{ at, request, standing, decision }, changed] of written) {
      if (changed === null) {
        lost.push({ at, request, standing })
        continue
      }
      if (endedUnnoticed(standing.record)) deps.observer.expired(standing.record)
      const { now } = standing
      answers[at] = { outcome: decision.outcome, record: changed.record, retryAfterMs: decision.retryAfterMs, now }
      if (decision.outcome === 'claimed') deps.observer.claimed(changed.record)
      else deps.observer.answered(decision.outcome, changed.record, now)
    }
  }
  return readAgain(deps, lost, answers)
}

/** Did a lease end here that no sweeper has counted? None looks into a window, and in the ledger a delivery may be faster. */
function endedUnnoticed({ state, sweepAt, window }: LedgerRecord): boolean {
  return state === 'claimed' && (sweepAt !== null || window !== null)
}

/** A record may have been forgotten meanwhile: then its key is new, and looked for in every place. */
async function readAgain(deps: LedgerDeps, lost: readonly StandingClaim[], answers: Answers): Promise<StandingClaim[]> {
  const gone: OpenClaim[] = []
  const open: StandingClaim[] = []
  for (const [place, items] of groupBy(lost, ({ standing }) => standing.record.window?.place ?? 'ledger')) {
    const found = await askFor(items, answers, (group) => placeStore(deps, place).read(group.map(readRequest)))
    for (const [{ at, request }, standing] of found) {
      if (standing === null) gone.push({ at, request })
      else open.push({ at, request, standing: { inserted: false, ...standing } })
    }
  }
  return gone.length === 0 ? open : [...open, ...(await findOrInsert(deps, gone, answers))]
}

function readRequest({ request }: OpenClaim): ReadRequest {
  return { digest: request.digest, claimToken: request.claimToken }
}

function placeStore(deps: LedgerDeps, place: Place): ClaimStore {
  return place === 'ledger' ? deps.store : deps.windows.storeAt(place)
}

/** The items with what `judge` makes of each; what it throws of one is that one's failure. */
function judgeEach<Item extends OpenClaim, Judged>(
  items: readonly Item[],
  answers: Answers,
  judge: (item: Item) => Judged,
): (Item & { judged: Judged })[] {
  const judged: (Item & { judged: Judged })[] = []
  for (const item of items) {
    try {
      judged.push({ ...item, judged: judge(item) })
    } catch (error) {
      answers[item.at] = new ItemFailure(error)
    }
  }
  return judged
}
