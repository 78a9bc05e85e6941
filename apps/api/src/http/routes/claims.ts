import { claimBatchEnvelopeSchema, limits, outcomeStatus, routes } from '@ranbook/contract'
import { type ClaimRequest, JsonRefusal } from '@ranbook/rules'
import { type ClaimAnswer, claim } from '../../ledger/claim.ts'
import { claimWaiting } from '../../ledger/claim-waiting.ts'
import { jsonAnswer } from '../answer.ts'
import type { Call, Serve } from '../call.ts'
import { clientIsGone } from '../client-is-gone.ts'
import type { HttpDeps } from '../http-deps.ts'
import { claimRequestOf, claimShape, validateClaim, validateClaimItem } from '../parse-claim.ts'
import { HttpProblem, problemJson } from '../problem.ts'
import { problemOfError } from '../problem-of-error.ts'
import { readJsonBody } from '../read-body.ts'
import { validate } from '../validate.ts'
import { decisionJson } from '../write-record.ts'

/** `POST /v1/claims` and `/v1/claims/batch`. */
export function registerClaims(serve: Serve, deps: HttpDeps): void {
  const { ledger, waitRoom } = deps

  serve(routes.claim, async (call) => {
    const input = validateClaim(await readJsonBody(call, { shape: claimShape }))
    const request = claimRequestOf(ledger, call.caller, input)
    if (!input.wait_ms) {
      const [answer] = await claim(ledger, [request])
      return decisionAnswer(answer as ClaimAnswer)
    }
    const wait = { waitMs: input.wait_ms, isGone: () => clientIsGone(call) }
    return decisionAnswer(await claimWaiting(ledger, waitRoom, request, wait))
  })

  serve(routes.claimBatch, async (call) => {
    const body = await readJsonBody(call, { maxBytes: limits.batchBodyMaxBytes, shape: { claims: [claimShape] } })
    const { claims } = validate(claimBatchEnvelopeSchema, body)
    const decisions = await decideEach(deps, call, claims)
    return jsonAnswer(`{"decisions":[${decisions.join(',')}]}`)
  })
}

function decisionAnswer(answer: ClaimAnswer) {
  const { outcome, retryAfterMs } = answer
  if (outcome === 'token_spent') throw tokenSpent()
  const headers =
    retryAfterMs === null ? undefined : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
  return jsonAnswer(decisionJson(answer), outcomeStatus[outcome], headers)
}

function tokenSpent(): HttpProblem {
  return new HttpProblem(
    'token_spent',
    'The claim token already had an attempt of this record. Claim with a fresh one.',
  )
}

/** JSON text per item, in order. A fault of one item is that item's answer. */
async function decideEach(deps: HttpDeps, call: Call, items: readonly unknown[]): Promise<string[]> {
  const texts: string[] = new Array(items.length)
  const fail = (problem: HttpProblem): string => `{"outcome":"error","problem":${problemJson(problem, call.requestId)}}`
  const failWith = (error: unknown): string => {
    return fail(problemOfError(error, deps.log, routes.claimBatch.path, call.requestId))
  }
  const requests: ClaimRequest[] = []
  const places: number[] = []
  for (const [at, item] of items.entries()) {
    try {
      if (item instanceof JsonRefusal) throw new HttpProblem(item.code, item.detail)
      requests.push(claimRequestOf(deps.ledger, call.caller, validateClaimItem(item)))
      places.push(at)
    } catch (error) {
      texts[at] = failWith(error)
    }
  }
  if (requests.length === 0) return texts
  try {
    for (const [index, answer] of (await claim(deps.ledger, requests)).entries()) {
      texts[places[index] as number] = answer.outcome === 'token_spent' ? fail(tokenSpent()) : decisionJson(answer)
    }
  } catch (error) {
    // The store answers for all of a call or for none; each item says so, and is repeated with its token.
    const text = failWith(error)
    for (const at of places) texts[at] = text
  }
  return texts
}
