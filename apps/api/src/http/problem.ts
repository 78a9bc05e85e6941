import { type ErrorCode, errorCodes } from '@ranbook/contract'
import type { Answer } from './answer.ts'

/** One fault of a request: where it is (`claims[3].lease_ms`, a parameter's name) and what it must be. */
export type FieldFault = { path: string; message: string }

type ProblemParts = {
  /** Every fault, each by name. */
  errors?: readonly FieldFault[]
  /** Added to the answer's. */
  headers?: Record<string, string>
  /** Extra members of the document, each as JSON text. */
  members?: Record<string, string>
  cause?: unknown
}

/**
 * A refusal. Thrown anywhere in a handler, it becomes the `application/problem+json` answer of its code. `detail` is
 * for the caller: it says what to do and never holds a token, a key's secret, SQL or another error's own message.
 */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem'
  readonly code: ErrorCode
  readonly detail: string
  readonly errors: readonly FieldFault[] | undefined
  readonly headers: Record<string, string> | undefined
  readonly members: Record<string, string> | undefined

  constructor(code: ErrorCode, detail: string, parts: ProblemParts = {}) {
    super(`${code}: ${detail}`, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.code = code
    this.detail = detail
    this.errors = parts.errors
    this.headers = parts.headers
    this.members = parts.members
  }
}

/** The problem document as JSON text, as answers carry it and as items of a batch do. */
export function problemJson(problem: HttpProblem, requestId: string): string {
  const { status, title } = errorCodes[problem.code]
  const document = JSON.stringify({
    type: `urn:ranbook:problem:${problem.code}`,
    title,
    status,
    code: problem.code,
    detail: problem.detail,
    errors: problem.errors,
    request_id: requestId,
  })
  if (problem.members === undefined) return document
  const extra = Object.entries(problem.members).map(([name, text]) => `,${JSON.stringify(name)}:${text}`)
  return `${document.slice(0, -1)}${extra.join('')}}`
}

/**
 * The whole answer. 429 and 503 carry `Retry-After`: `spread` in [0, 1) makes it 1 to 3 s, so that callers who were
 * refused together do not come back together.
 */
export function problemAnswer(problem: HttpProblem, requestId: string, spread: number): Answer & { body: string } {
  const { status } = errorCodes[problem.code]
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', ...problem.headers }
  if (status === 503) headers['retry-after'] = String(1 + Math.floor(spread * 3))
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  return { status, headers, body: problemJson(problem, requestId) }
}
