import { checkText, limits } from '@ranbook/contract'
import { coversClass, isPolicyName } from '@ranbook/rules'
import type { Call } from '../call.ts'
import { pathParam } from '../path-param.ts'
import { HttpProblem } from '../problem.ts'
import { invalidRequest } from '../validate.ts'

/** The class in the path, within what the caller may read; any other looks absent. */
export function readableName(call: Call): string {
  const name = policyName(call)
  if (!coversClass(call.caller.scope.classes, name)) {
    throw new HttpProblem('not_found', 'No class of this name is in the scope of the API key.')
  }
  return name
}

/** The class in the path, within what the caller may change. A policy is every consumer's, so a key of one can't. */
export function writableName(call: Call): string {
  const name = policyName(call)
  const { classes, consumer } = call.caller.scope
  if (consumer !== null)
    throw new HttpProblem('forbidden', 'The API key is bound to one consumer; a policy is every consumer’s.')
  if (!coversClass(classes, name))
    throw new HttpProblem('forbidden', 'The class lies outside the scope of the API key.')
  return name
}

function policyName(call: Call): string {
  const name = pathParam(call, 'name')
  const fault = checkText(name, { minBytes: 1, maxBytes: limits.nameMaxBytes })
  if (fault !== null) throw invalidRequest([{ path: 'name', message: fault }])
  if (!isPolicyName(name)) throw invalidRequest([{ path: 'name', message: 'may hold * once only, at its end' }])
  return name
}
