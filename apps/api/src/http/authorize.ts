import type { Action, Route } from '@ranbook/contract'
import type { AccessBook } from '../access/access-book.ts'
import type { Caller } from '../access/caller.ts'
import { HttpProblem } from './problem.ts'

/** Who calls an open route: may do nothing and see nothing. */
const nobody: Caller = {
  actor: 'nobody',
  name: 'nobody',
  actions: new Set<Action>(),
  scope: { classes: [], consumer: null },
  expiresAt: null,
}

/**
 * The caller, where `access` lets it in: any one of the actions listed suffices, none implies another. Throws 401 for
 * anything that is not a live key and 403 for a key without the action.
 */
export function authorize(access: AccessBook, allowed: Route['access'], authorization: string | undefined): Caller {
  if (allowed === 'open') return nobody
  const caller = access.authenticate(authorization)
  if (caller === null) {
    throw new HttpProblem(
      'unauthenticated',
      'Send Authorization: Bearer with an API key that exists and is not revoked.',
    )
  }
  if (!allowed.some((action) => caller.actions.has(action))) {
    throw new HttpProblem('forbidden', `The API key needs the action ${allowed.join(' or ')}.`)
  }
  return caller
}
