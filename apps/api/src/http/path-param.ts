import { checkText, limits } from '@ranbook/contract'
import type { Call } from './call.ts'
import { invalidRequest } from './validate.ts'

// Ids and names are shorter still, which their own checks say; nothing longer is looked up anywhere.
const anyParam = { minBytes: 1, maxBytes: limits.keyMaxBytes }

/**
 * A parameter of the path, percent-decoded: 1 to 1 024 bytes without control characters, else 400. That the escapes are
 * well-formed was judged before the handler ran.
 */
export function pathParam(call: Call, name: string): string {
  const value = call.context.req.param(name)
  if (value === undefined) throw new Error(`the route has no parameter ${name}`)
  const fault = checkText(value, anyParam)
  if (fault !== null) throw invalidRequest([{ path: name, message: fault }])
  return value
}
