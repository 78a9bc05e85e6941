import type { ErrorCode, Problem } from '@ranbook/contract'

/** A request that got no decision: refused, or not answered. Outcomes such as `held` are answers, not errors. */
export class RanbookError extends Error {
  override readonly name = 'RanbookError'
  /** The problem's code; `unreachable` where no complete answer came: the outcome is unknown. */
  readonly code: ErrorCode | 'unreachable'
  /** 0 where no answer came. */
  readonly status: number
  /** The problem document as the service sent it. */
  readonly problem: Problem | null
  /** What the service asked to wait before another try, in ms. */
  readonly retryAfterMs: number | null

  constructor(
    code: ErrorCode | 'unreachable',
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
