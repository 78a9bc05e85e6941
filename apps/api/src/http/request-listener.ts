import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { HttpEnv } from './call.ts'
import type { HttpDeps } from './http-deps.ts'
import { HttpProblem, problemAnswer } from './problem.ts'

/**
 * The app as node:http calls it. A request whose target or Host header is no part of a URL never reaches the app and is
 * answered 400 here.
 */
export function requestListener(
  app: Hono<HttpEnv>,
  deps: Pick<HttpDeps, 'newRequestId'>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return getRequestListener(app.fetch, {
    // HTTP/1.0 has no Host; no answer depends on it.
    hostname: 'localhost',
    errorHandler: (cause) => {
      const requestId = deps.newRequestId()
      const detail = 'The request target or the Host header is not part of a valid URL.'
      const { status, headers, body } = problemAnswer(
        new HttpProblem('invalid_request', detail, { cause }),
        requestId,
        0,
      )
      return new Response(body, { status, headers: { ...headers, 'x-request-id': requestId } })
    },
  })
}
