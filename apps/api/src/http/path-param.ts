import type { Call } from './serve-route.ts'

/** A parameter of the path, percent-decoded. That the escapes are well-formed was judged before the handler ran. */
export function pathParam(call: Call, name: string): string {
  const value = call.context.req.param(name)
  if (value === undefined) throw new Error(`the route has no parameter ${name}`)
  return value
}
