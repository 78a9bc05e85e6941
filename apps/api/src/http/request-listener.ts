import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Answer } from './answer.ts'
import type { HttpEnv } from './call.ts'
import type { HttpDeps } from './http-deps.ts'
import { HttpProblem, problemAnswer } from './problem.ts'
import { problemOfError } from './problem-of-error.ts'
import { requestIdOf } from './request-id.ts'

/**
 * The app as node:http calls it. A request whose target or Host header is no part of a URL, or that has to have a Host
 * and has none, never reaches the app and is answered 400 here. The server must leave that last check to it.
 */
export function requestListener(
  app: Hono<HttpEnv>,
  deps: Pick<HttpDeps, 'newRequestId' | 'log'>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const serve = getRequestListener(app.fetch, {
    // HTTP/1.0 has no Host; no answer depends on it.
    hostname: 'localhost',
    errorHandler: (cause) => {
      const requestId = deps.newRequestId()
      const detail = 'The request target or the Host header is not part of a valid URL.'
      const error = cause instanceof RequestError ? new HttpProblem('invalid_request', detail, { cause }) : cause
      const { status, headers, body } = refusal(error, requestId, deps)
      return new Response(body, { status, headers })
    },
  })
  return async (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion !== '1.1') {
      await serve(request, response)
      return
    }
    const requestId = requestIdOf(request.headers['x-request-id'], deps.newRequestId)
    const problem = new HttpProblem('invalid_request', 'HTTP/1.1 needs a Host header.')
    const { status, headers, body } = refusal(problem, requestId, deps)
    response.writeHead(status, { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) }).end(body)
  }
}

function refusal(
  error: unknown,
  requestId: string,
  { log }: Pick<HttpDeps, 'log'>,
): Omit<Answer, 'body'> & { body: string } {
  const { status, headers, body } = problemAnswer(problemOfError(error, log, '(unknown)', requestId), requestId, 0)
  return { status, headers: { ...headers, 'x-request-id': requestId }, body }
}
