import { type ClaimInput, claimItemSchema, claimRequestSchema } from '@ranbook/contract'
import {
  type ClaimRequest,
  computeFingerprint,
  coversRecord,
  type Fingerprint,
  type JsonShape,
  recordDigest,
} from '@ranbook/rules'
import type { Caller } from '../access/caller.ts'
import type { LedgerDeps } from '../ledger/ledger-deps.ts'
import { acceptClaim } from './accept-claim.ts'
import { opaqueText } from './opaque.ts'
import { HttpProblem } from './problem.ts'
import { invalidRequest, validate } from './validate.ts'

/** What of a claim's body stays text. */
export const claimShape: JsonShape = { payload: 'text' }

/** The body of `POST /v1/claims`, checked. Throws `invalid_request`. */
export function validateClaim(value: unknown): ClaimInput {
  return acceptClaim(value, true) ?? validate(claimRequestSchema, value)
}

/** One item of a batch, checked. Throws `invalid_request`. */
export function validateClaimItem(value: unknown): ClaimInput {
  return acceptClaim(value, false) ?? validate(claimItemSchema, value)
}

/**
 * A checked claim as the ledger takes it. Throws 400 where no consumer is named and the key is bound to none, 403 for a
 * class or consumer outside the caller's scope, 413 for too large a payload.
 */
export function claimRequestOf(ledger: LedgerDeps, caller: Caller, input: ClaimInput): ClaimRequest {
  const consumer = consumerOf(caller, input)
  requireScope(caller, { class: input.class, consumer })
  const policy = ledger.policies.policyFor(input.class)
  const payload = opaqueText(input.payload, 'payload')
  let fingerprint: Fingerprint | null = null
  if (input.fingerprint !== undefined) {
    fingerprint = { kind: 'given', value: input.fingerprint }
  } else if (payload !== null) {
    fingerprint = computeFingerprint(payload, policy.fingerprint)
  }
  return {
    digest: recordDigest(consumer, input.class, input.key),
    class: input.class,
    consumer,
    key: input.key,
    claimToken: input.claim_token ?? ledger.newToken(),
    owner: input.owner ?? null,
    leaseMs: input.lease_ms ?? null,
    fingerprint,
    details: {
      payload: policy.store_payload ? payload : null,
      refs: input.refs === undefined || input.refs.length === 0 ? null : input.refs,
      source: input.source ?? null,
      seq: input.seq ?? null,
      occurredAt: input.occurred_at === undefined ? null : Date.parse(input.occurred_at),
    },
  }
}

function consumerOf(caller: Caller, input: ClaimInput): string {
  const consumer = input.consumer ?? caller.scope.consumer
  if (consumer !== null) return consumer
  throw invalidRequest([{ path: 'consumer', message: 'required, as the API key is not bound to a consumer' }])
}

/** Throws 403 for a class or consumer outside the caller's scope. */
export function requireScope({ scope }: Caller, claimed: { class: string; consumer: string }): void {
  if (coversRecord(scope, claimed)) return
  throw new HttpProblem('forbidden', 'The API key does not cover this class, or is bound to another consumer.')
}
