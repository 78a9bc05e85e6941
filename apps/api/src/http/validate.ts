import type { z } from 'zod'
import { type FieldFault, HttpProblem } from './problem.ts'

/** More faults than anybody reads at once are left out of the answer. */
const maxFaultsShown = 50

/** What the schema makes of `value`. Throws `invalid_request` that names every fault, unknown fields one by one. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw invalidRequest(faultsOf(parsed.error))
}

/** The refusal of a request with these faults; its `detail` is the first one's sentence. */
export function invalidRequest(faults: readonly FieldFault[]): HttpProblem {
  const [first] = faults
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more, see errors)` : ''
  const detail = first === undefined ? 'The request is not valid.' : `${describe(first)}${more}.`
  return new HttpProblem('invalid_request', detail, { errors: faults.slice(0, maxFaultsShown) })
}

function describe({ path, message }: FieldFault): string {
  return `${path === '' ? 'The request' : path}: ${message}`
}

function faultsOf(error: z.ZodError): FieldFault[] {
  return error.issues.flatMap((issue) => faultsOfIssue(issue))
}

function faultsOfIssue(issue: z.core.$ZodIssue): FieldFault[] {
  const path = pathText(issue.path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: shorten(joinPath(path, key)), message: 'unknown field' }))
  }
  return [{ path, message: issue.message }]
}

function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) text = typeof part === 'number' ? `${text}[${part}]` : joinPath(text, String(part))
  return text
}

function joinPath(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`
}

/** A name is as long as its sender likes; whole code points, so that the answer stays well-formed. */
function shorten(name: string): string {
  return name.length <= 100 ? name : `${[...name.slice(0, 100)].slice(0, -1).join('')}…`
}
