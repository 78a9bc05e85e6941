import {
  type Change,
  type ClaimRequest,
  type Decision,
  decide,
  grantFirst,
  type InsertOutcome,
  type NewRecord,
  StoreError,
} from '@ranbook/rules'
import { IdentityCollision } from './identity-collision.ts'
import { insertOrRead } from './insert-or-read.ts'
import { askFor, ItemFailure } from './item-failure.ts'
import { type LedgerDeps, maxRounds } from './ledger-deps.ts'

/** One answered claim; `now` is the store's clock it was judged by. */
export type ClaimAnswer = Pick<Decision, 'outcome' | 'record' | 'retryAfterMs'> & { now: number }

type Answers = (ClaimAnswer | ItemFailure)[]
type OpenClaim = { at: number; request: ClaimRequest }
type StandingClaim = OpenClaim & { standing: InsertOutcome }

/**
 * Answers claims in the order given. Insert; where a record stands, decide; where that needs a change, compare-and-set;
 * where that loses a race, read and decide again. An answer is given only after what it says is durable. Where a store
 * call fails, the claims it was made for are failures, to be repeated with the same tokens; so is a claim whose stored
 * key is another one (`IdentityCollision`). Throws where nothing was tried: `PoliciesStale`, or a `StoreError` of the
 * pairs.
 */
export async function claim(deps: LedgerDeps, requests: readonly ClaimRequest[]): Promise<Answers> {
  deps.policies.requireFresh()
  const unknownPairs = requests.filter((r) => !deps.pairs.has(r.consumer, r.class))
  if (unknownPairs.length > 0) await deps.pairs.add(unknownPairs)

  const answers: Answers = new Array(requests.length)
  let open: StandingClaim[] = await insert(
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

/** Grants where nothing stands; returns the claims of records that stand. */
async function insert(deps: LedgerDeps, claims: readonly OpenClaim[], answers: Answers): Promise<StandingClaim[]> {
  const news = judgeEach(claims, answers, ({ request }) => grantFirst(request, deps.policies.policyFor(request.class)))
  const open: StandingClaim[] = []
  for (const [{ at, request }, standing] of await askFor(news, answers, (items) =>
    insertOrRead(
      deps.store,
      items.map(({ judged }): NewRecord => judged),
    ),
  )) {
    if (standing instanceof ItemFailure) {
      answers[at] = standing
    } else if (standing.inserted) {
      answers[at] = { outcome: 'claimed', record: standing.record, retryAfterMs: null, now: standing.now }
      deps.observer.claimed(standing.record)
    } else {
      open.push({ at, request, standing })
    }
  }
  return open
}

/** Decides every open claim, applies the changes, and returns those that lost a race with what stands there now. */
async function decideRound(
  deps: LedgerDeps,
  open: readonly StandingClaim[],
  answers: Answers,
): Promise<StandingClaim[]> {
  const decided = judgeEach(open, answers, ({ request, standing }) => {
    IdentityCollision.refuse(standing.record, request)
    return decide(standing, request, deps.policies.policyFor(request.class), deps.random())
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

  const lost: OpenClaim[] = []
  for (const [{ at, request, standing, decision }, written] of await askFor(changing, answers, (items) =>
    deps.store.compareAndSet(items.map(({ change }) => change)),
  )) {
    if (written === null) {
      lost.push({ at, request })
      continue
    }
    const { now } = standing
    answers[at] = { outcome: decision.outcome, record: written.record, retryAfterMs: decision.retryAfterMs, now }
    if (decision.outcome === 'claimed') deps.observer.claimed(written.record)
    else deps.observer.answered(decision.outcome, written.record, now)
  }
  return readAgain(deps, lost, answers)
}

/** A record may have been forgotten meanwhile: then the insert is tried again. */
async function readAgain(deps: LedgerDeps, lost: readonly OpenClaim[], answers: Answers): Promise<StandingClaim[]> {
  const gone: OpenClaim[] = []
  const open: StandingClaim[] = []
  for (const [item, found] of await askFor(lost, answers, (items) =>
    deps.store.read(items.map(({ request }) => ({ digest: request.digest, claimToken: request.claimToken }))),
  )) {
    if (found === null) gone.push(item)
    else open.push({ ...item, standing: { inserted: false, ...found } })
  }
  return [...open, ...(await insert(deps, gone, answers))]
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
