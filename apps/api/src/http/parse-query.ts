import { z } from 'zod'
import type { Call } from './call.ts'
import type { FieldFault } from './problem.ts'
import { invalidRequest, validate } from './validate.ts'

/** For routes without parameters: a query is 400, each of its parameters named. */
export function refuseQuery(call: Call): void {
  if (call.context.req.url.includes('?')) parseQuery(call, noParameters)
}

const noParameters = z.strictObject({})

/**
 * The query's parameters as `schema` (a strict object over strings) makes them. Unknown, repeated and malformed ones
 * are 400 `invalid_request`, named one by one.
 */
export function parseQuery<S extends z.ZodType>(call: Call, schema: S): z.output<S> {
  const { url } = call.context.req
  const query = url.indexOf('?')
  const given: Record<string, string> = Object.create(null)
  const faults: FieldFault[] = []
  for (const part of query === -1 ? [] : url.slice(query + 1).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals === -1 ? part : part.slice(0, equals))
    const value = decode(equals === -1 ? '' : part.slice(equals + 1))
    if (name === null || value === null) {
      faults.push({ path: name ?? '', message: 'has an ill-formed percent escape in the query; write % itself as %25' })
    } else if (name in given) {
      faults.push({ path: name, message: 'is given twice' })
    } else {
      given[name] = value
    }
  }
  if (faults.length > 0) throw invalidRequest(faults)
  return validate(schema, { ...given })
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
