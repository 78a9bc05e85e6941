import { claimBatchEnvelopeSchema, limits, outcomeStatus, routes } from '@ranbook/contract'
import type { ClaimRequest } from '@ranbook/rules'
import { type ClaimAnswer, claim } from '../../ledger/claim.ts'
import { claimWaiting } from '../../ledger/claim-waiting.ts'
import { onlyAnswer } from '../../ledger/item-failure.ts'
import { jsonAnswer } from '../answer.ts'
import { batchAnswer } from '../batch-answer.ts'
import type { Serve } from '../call.ts'
import { clientIsGone } from '../client-is-gone.ts'
import type { HttpDeps } from '../http-deps.ts'
import { claimRequestOf, claimShape, requireScope, validateClaim, validateClaimItem } from '../parse-claim.ts'
import { HttpProblem } from '../problem.ts'
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
      return decisionAnswer(onlyAnswer(await claim(ledger, [request])))
    }
    const wait = {
      waitMs: input.wait_ms,
      isGone: () => clientIsGone(call),
      requireAccess: () => requireScope(call.authorize(), request),
    }
    return decisionAnswer(await claimWaiting(ledger, waitRoom, request, wait))
  })

  serve(routes.claimBatch, async (call) => {
    const shape = { claims: [claimShape, limits.batchMaxItems] } as const
    const body = await readJsonBody(call, { maxBytes: limits.batchBodyMaxBytes, shape })
    return batchAnswer<ClaimRequest, ClaimAnswer>(deps, call, {
      route: routes.claimBatch,
      list: 'decisions',
      refused: '"outcome":"error"',
      items: validate(claimBatchEnvelopeSchema, body).claims,
      parse: (item, caller) => claimRequestOf(ledger, caller, validateClaimItem(item)),
      ask: (requests) => claim(ledger, requests),
      write: decisionText,
    })
  })
}

function decisionAnswer(answer: ClaimAnswer) {
  const { outcome, retryAfterMs } = answer
  if (outcome === 'token_spent') throw tokenSpent()
  const headers =
    retryAfterMs === null ? undefined : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
  return jsonAnswer(decisionJson(answer), outcomeStatus[outcome], headers)
}

function decisionText(answer: ClaimAnswer): string {
  if (answer.outcome === 'token_spent') throw tokenSpent()
  return decisionJson(answer)
}

function tokenSpent(): HttpProblem {
  return new HttpProblem(
    'token_spent',
    'The claim token already had an attempt of this record. Claim with a fresh one.',
  )
}
