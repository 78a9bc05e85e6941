import { errorCodes } from '@ranbook/contract'
import { StoreError } from '@ranbook/rules'
import { IdentityCollision } from '../ledger/identity-collision.ts'
import { PoliciesStale } from '../ledger/ledger-deps.ts'
import { ClassMoving } from '../ledger/windows.ts'
import type { HttpLog } from './http-deps.ts'
import { HttpProblem } from './problem.ts'

/**
 * What the caller is told of anything that was thrown. Only an `HttpProblem` and a store's advice speak for
 * themselves; of all else the code is kept and the message is not passed on, since it may quote SQL, hosts or data.
 * Unknown errors are `internal`. What ends as a 500 is logged, with the route's template and the request's id.
 */
export function problemOfError(error: unknown, log: HttpLog, route: string, requestId: string): HttpProblem {
  const problem = translate(error)
  if (errorCodes[problem.code].status === 500) {
    log.error({ route, request_id: requestId, code: problem.code, error }, 'request failed')
  }
  return problem
}

function translate(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (error instanceof StoreError && error.advice !== null) {
    return new HttpProblem(error.code, error.advice, { cause: error })
  }
  if (
    error instanceof StoreError ||
    error instanceof PoliciesStale ||
    error instanceof ClassMoving ||
    error instanceof IdentityCollision
  ) {
    return new HttpProblem(error.code, errorCodes[error.code].meaning, { cause: error })
  }
  return new HttpProblem('internal', errorCodes.internal.meaning, { cause: error })
}
