import { type ErrorCode, errorCodes, type Problem, problemSchema } from '@ranbook/contract'
import { expect } from 'vitest'
import type { Answered } from './call.ts'

/** The answer is the problem document of `code`, whole and in form. */
export function expectProblem(answer: Answered, code: ErrorCode): Problem {
  expect({ status: answer.status, code: answer.json?.code, body: answer.text }).toMatchObject({
    status: errorCodes[code].status,
    code,
  })
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  const problem = problemSchema.strict().parse(answer.json)
  expect(problem.status).toBe(answer.status)
  expect(problem.title).toBe(errorCodes[code].title)
  expect(problem.request_id).toBe(answer.headers.get('x-request-id'))
  expect(answer.headers.has('retry-after')).toBe(answer.status === 503)
  expect(answer.text).not.toMatch(/\bat \/|node_modules|\.ts:\d|SELECT |INSERT /)
  return problem
}
