import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import { limits } from '@ranbook/contract'
import type { Answer } from './answer.ts'
import type { RequestContext } from './call.ts'
import type { HttpDeps } from './http-deps.ts'
import { HttpProblem, problemAnswer } from './problem.ts'
import { problemOfError } from './problem-of-error.ts'
import { requestIdOf } from './request-id.ts'
import type { App } from './serve-route.ts'
import { writeAnswer } from './write-answer.ts'

/**
 * The app as node:http calls it. A plain request for a route is answered by the same functions without Hono and the web's
 * objects in between, which spares up to a tenth of its CPU; whatever is not plain goes through Hono. A request whose
 * target or Host header is no part of a URL, or that has to have a Host and has none, never reaches the app and is answered
 * 400 here. The server must leave that last check to it.
 */
export function requestListener(
  app: App,
  deps: Pick<HttpDeps, 'newRequestId' | 'log'>,
): (request: IncomingMessage, response: ServerResponse) => void {
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
  const refuse = (
    error: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    more?: { connection: 'close' },
  ) => {
    if (response.headersSent) {
      response.destroy()
      return
    }
    const requestId = requestIdOf(request.headers['x-request-id'], deps.newRequestId)
    const { status, headers, body } = refusal(error, requestId, deps)
    response.writeHead(status, { ...headers, ...more, 'content-length': Buffer.byteLength(body) }).end(body)
  }
  return (request, response) => {
    const answering = serveDirectly(app, request, response)
    if (answering !== null) {
      answering.catch((error) => refuse(error, request, response))
      return
    }
    if (request.headers.host !== undefined || request.httpVersion !== '1.1') {
      void serve(request, response)
      return
    }
    const problem = new HttpProblem('invalid_request', 'HTTP/1.1 needs a Host header.')
    refuse(problem, request, response, { connection: 'close' })
  }
}

/** Nothing to decode, to resolve or to take apart. */
const PLAIN_TARGET = /^\/[\w/-]+$/
const PLAIN_HOST = /^[\w.-]+(?::\d+)?$/

/** Answers a plain request of a route; null, and nothing is done, where it is not one. Rejects where that failed. */
function serveDirectly({ table }: App, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> | null {
  const { method = '', url = '', headers } = incoming
  if (!PLAIN_TARGET.test(url) || !PLAIN_HOST.test(headers.host ?? '')) return null
  // What is left of a body when its request was refused, the server reads and drops: it has to be of a known size.
  const announced = Number(headers['content-length'] ?? 0)
  if (!(announced <= limits.batchBodyMaxBytes) || headers['transfer-encoding'] !== undefined) return null
  const [[found]] = table.match(method, url)
  if (found === undefined) return null
  const [answer, params] = found
  const param = (name: string): string | undefined => (name in params ? String(params[name]) : undefined)
  const context: RequestContext = { env: { incoming, outgoing }, req: { method, path: url, url, param } }
  return answer(context).then((answered) => writeAnswer(outgoing, answered))
}

function refusal(
  error: unknown,
  requestId: string,
  { log }: Pick<HttpDeps, 'log'>,
): Omit<Answer, 'body'> & { body: string } {
  const { status, headers, body } = problemAnswer(problemOfError(error, log, '(unknown)', requestId), requestId, 0)
  return { status, headers: { ...headers, 'x-request-id': requestId }, body }
}
