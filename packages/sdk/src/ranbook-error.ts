import type { ErrorCode, Problem } from '@ranbook/contract'

/**
 * Why there is no decision: a code of the service, or
 * - `unreachable`: no complete answer came. Whether the request was carried out is unknown; it may be repeated.
 * - `unexpected_answer`: something else answered, such as a proxy's error page or a redirect. `status` says how.
 */
export type RanbookErrorCode = ErrorCode | 'unreachable' | 'unexpected_answer'

/** A request that got no decision: refused, or not answered. Outcomes such as `held` are answers, not errors. */
export class RanbookError extends Error {
  override readonly name = 'RanbookError'
  readonly code: RanbookErrorCode
  /** Of the last answer; 0 where none came. */
  readonly status: number
  /** The problem document as the service sent it. */
  readonly problem: Problem | null
  /** What was asked to wait before another try, in ms. */
  readonly retryAfterMs: number | null

  constructor(
    code: RanbookErrorCode,
    message: string,
    details: { status: number; problem?: Problem | null; retryAfterMs?: number | null; cause?: unknown },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.problem = details.problem ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
  }
}
