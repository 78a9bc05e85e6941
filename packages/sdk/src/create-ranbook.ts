import type { DecisionView, Outcome, RecordView } from '@ranbook/contract'
import { createTransport } from './transport.ts'
import type { TransportOptions } from './transport-options.ts'

export type RanbookOptions = TransportOptions & {
  /** Sent with every claim that names none. May be left out where the API key is bound to one. */
  consumer?: string
}

/** A claim. Durations are in milliseconds; absent fields are not sent. */
export type ClaimOptions = {
  class: string
  key: string
  consumer?: string
  /** A UUID. Made here when absent; give one of your own to be able to repeat a call that ended `unreachable`. */
  claimToken?: string
  owner?: string
  leaseMs?: number
  payload?: unknown
  fingerprint?: string
  refs?: readonly string[]
  source?: string
  seq?: number | bigint | string
  occurredAt?: Date
  /** How long the service may wait while another holds the claim, 0 to 30 000; the time limits are longer by it. */
  waitMs?: number
  signal?: AbortSignal
}

/** Run it: what a settle needs is in it. */
export type Claimed = DecisionView & { outcome: 'claimed'; claim_token: string }
/** Do not run it; the outcome says what to do instead. */
export type NotClaimed = DecisionView & { outcome: Exclude<Outcome, 'claimed'>; claim_token: null }
export type Decision = Claimed | NotClaimed

/** What a settle needs of a claim. */
export type HeldClaim = Pick<Claimed, 'id' | 'claim_token'>

export type Ranbook = {
  /** Asks for the right to run. Every outcome is an answer; only `claimed` means run it. */
  claim(options: ClaimOptions): Promise<Decision>
  /** The effect ran. `result` (any JSON) is given to every later duplicate; `undefined` leaves it out. */
  complete(claim: HeldClaim, result?: unknown): Promise<RecordView>
  /** The attempt failed. By default it may be retried after the policy's backoff. */
  fail(
    claim: HeldClaim,
    error: { message: string; code?: string; detail?: unknown },
    options?: { retryable?: boolean; retryAfterMs?: number },
  ): Promise<RecordView>
  /** Keeps the lease alive. Without `leaseMs` by the length it was granted with. */
  extend(claim: HeldClaim, leaseMs?: number): Promise<{ lease_expires_at: string; lease_remaining_ms: number }>
  /** Gives an unstarted claim back; the attempt is not counted. */
  release(claim: HeldClaim): Promise<RecordView>
  /** Reads any path of the API, such as `/v1/lookup?q=…`. What it answers is the caller's to know. */
  get<T>(path: string, signal?: AbortSignal): Promise<T>
}

/** Statuses under which a claim is answered with a decision, beside 2xx. */
const decisionStatuses = [409, 410, 422, 423]

/**
 * A client of the service. Needs only `fetch`, `AbortController` and `crypto.randomUUID`. Throws `TypeError` for options
 * that can't be used. Every method throws `RanbookError` when it got no decision, and the signal's reason when aborted.
 */
export function createRanbook(options: RanbookOptions): Ranbook {
  const call = createTransport(options)

  async function settle<T>(verb: string, claim: HeldClaim, fields: Record<string, unknown>): Promise<T> {
    const path = `/v1/claims/${encodeURIComponent(claim.id)}/${verb}`
    return (await call({ method: 'POST', path, body: { claim_token: claim.claim_token, ...fields } })) as T
  }

  return {
    claim: async (claim) =>
      (await call({
        method: 'POST',
        path: '/v1/claims',
        body: claimBody(claim, options.consumer),
        answers: decisionStatuses,
        signal: claim.signal,
        waitMs: claim.waitMs,
      })) as Decision,
    complete: (claim, result) => settle('complete', claim, { result }),
    fail: (claim, error, how = {}) =>
      settle('fail', claim, { error, retryable: how.retryable, retry_after_ms: how.retryAfterMs }),
    extend: (claim, leaseMs) => settle('extend', claim, { lease_ms: leaseMs }),
    release: (claim) => settle('release', claim, {}),
    get: async <T>(path: string, signal?: AbortSignal) => (await call({ method: 'GET', path, signal })) as T,
  }
}

/** `JSON.stringify` leaves out what is undefined, so an option that was not given is not sent. */
function claimBody(claim: ClaimOptions, consumer: string | undefined): Record<string, unknown> {
  return {
    class: claim.class,
    consumer: claim.consumer ?? consumer,
    key: claim.key,
    claim_token: claim.claimToken ?? crypto.randomUUID(),
    owner: claim.owner,
    lease_ms: claim.leaseMs,
    payload: claim.payload,
    fingerprint: claim.fingerprint,
    refs: claim.refs,
    source: claim.source,
    // A number is sent as it is: the service refuses one that JavaScript has rounded.
    seq: typeof claim.seq === 'bigint' ? claim.seq.toString() : claim.seq,
    occurred_at: claim.occurredAt?.toISOString(),
    wait_ms: claim.waitMs,
  }
}
