import { type ClaimRequest, type Decision, decide, grantFirst, type InsertOutcome, StoreError } from '@ranbook/rules'
import { IdentityCollision } from './identity-collision.ts'
import { type LedgerDeps, maxRounds } from './ledger-deps.ts'

/** One answered claim; `now` is the store's clock it was judged by. */
export type ClaimAnswer = Pick<Decision, 'outcome' | 'record' | 'retryAfterMs'> & { now: number }

/**
 * Answers claims in the order given. Insert; where a record stands, decide; where that needs a change, compare-and-set;
 * where that loses a race, read and decide again. An answer is given only after what it says is durable.
 * Throws `StoreError` for the whole call: the outcome of its claims is then unknown and safe to repeat with the same
 * tokens. Throws `IdentityCollision` where a stored key is not the one asked for.
 */
export async function claim(deps: LedgerDeps, requests: readonly ClaimRequest[]): Promise<ClaimAnswer[]> {
  deps.policies.requireFresh()
  const unknownPairs = requests.filter((r) => !deps.pairs.has(r.consumer, r.class))
  if (unknownPairs.length > 0) await deps.pairs.add(unknownPairs)
  const news = requests.map((request) => grantFirst(request, deps.policies.policyFor(request.class)))
  const inserted = await deps.store.insertIfAbsent(news)

  const answers: ClaimAnswer[] = new Array(requests.length)
  let open: { at: number; request: ClaimRequest; standing: InsertOutcome }[] = []
  for (const [at, request] of requests.entries()) {
    const standing = inserted[at] as InsertOutcome
    if (standing.inserted) {
      answers[at] = { outcome: 'claimed', record: standing.record, retryAfterMs: null, now: standing.now }
      deps.observer.claimed(standing.record)
    } else {
      open.push({ at, request, standing })
    }
  }
  for (let round = 0; open.length > 0; round++) {
    if (round === maxRounds) throw new StoreError('overloaded', 'a record changed faster than it could be claimed')
    open = await decideRound(deps, open, answers)
  }
  return answers
}

type OpenClaim = { at: number; request: ClaimRequest; standing: InsertOutcome }

/** Decides every open claim, applies the changes, and returns those that lost a race with what stands there now. */
async function decideRound(deps: LedgerDeps, open: readonly OpenClaim[], answers: ClaimAnswer[]): Promise<OpenClaim[]> {
  const changing: { item: OpenClaim; decision: Decision }[] = []
  for (const item of open) {
    const { record, now } = item.standing
    IdentityCollision.refuse(record, item.request)
    const decision = decide(item.standing, item.request, deps.policies.policyFor(item.request.class), deps.random())
    if (decision.change !== null) {
      changing.push({ item, decision })
      continue
    }
    answers[item.at] = { outcome: decision.outcome, record, retryAfterMs: decision.retryAfterMs, now }
    deps.observer.answered(decision.outcome, record, now)
  }
  if (changing.length === 0) return []

  const changes = changing.flatMap(({ decision }) => decision.change ?? [])
  const applied = await deps.store.compareAndSet(changes)
  const lost: OpenClaim[] = []
  for (const [index, { item, decision }] of changing.entries()) {
    const written = applied[index]
    if (!written) {
      lost.push(item)
      continue
    }
    const { now } = item.standing
    answers[item.at] = { outcome: decision.outcome, record: written.record, retryAfterMs: decision.retryAfterMs, now }
    if (decision.outcome === 'claimed') deps.observer.claimed(written.record)
    else deps.observer.answered(decision.outcome, written.record, now)
  }
  return lost.length === 0 ? [] : readAgain(deps, lost)
}

/** A record may have been forgotten meanwhile: then the insert is tried again. */
async function readAgain(deps: LedgerDeps, lost: readonly OpenClaim[]): Promise<OpenClaim[]> {
  const read = await deps.store.read(
    lost.map(({ request }) => ({ digest: request.digest, claimToken: request.claimToken })),
  )
  const gone = lost.filter((_, index) => read[index] === null)
  const again = await deps.store.insertIfAbsent(
    gone.map(({ request }) => grantFirst(request, deps.policies.policyFor(request.class))),
  )
  return lost.map((item, index) => {
    const found = read[index]
    const standing = found ? { inserted: false, ...found } : (again[gone.indexOf(item)] as InsertOutcome)
    return { ...item, standing }
  })
}
