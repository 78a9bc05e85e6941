import { errorCodes, limits, type Route } from '@ranbook/contract'
import type { Context, Hono } from 'hono'
import type { Answer } from './answer.ts'
import { authorize } from './authorize.ts'
import { type Call, type Handler, type HttpEnv, requestHeader, type Serve } from './call.ts'
import type { HttpDeps } from './http-deps.ts'
import { type Load, requireRoom } from './load.ts'
import { refuseQuery } from './parse-query.ts'
import { HttpProblem, problemAnswer } from './problem.ts'
import { problemOfError } from './problem-of-error.ts'

/** What `answerRequest` needs of the app around it. */
export type Host = { deps: HttpDeps; load: Load }

/**
 * Registers routes on `app`. Everything a route does around its handler happens here, in one function and not in a
 * chain of middlewares, which cost microseconds each: bounded work, request id, path check, access, errors as problem
 * documents, log line and metrics.
 */
export function serveRoutes(app: Hono<HttpEnv>, host: Host): Serve {
  return (route, handler) => {
    app.on(route.method, route.path, (context) => answerRequest(host, context, route, handler))
  }
}

/** Runs one request through its handler and never rejects: whatever is thrown becomes a problem document. */
export async function answerRequest(
  host: Host,
  context: Context<HttpEnv>,
  route: Pick<Route, 'path' | 'access' | 'shed' | 'query'>,
  handler: Handler,
): Promise<Response> {
  const { deps, load } = host
  const startedAt = performance.now()
  const requestId = requestIdOf(context, deps)
  let call: Call | null = null
  let answer: Answer
  load.requests++
  try {
    if (route.shed !== 'never') requireService(host, route.shed)
    refuseIllFormedPath(context.req.url)
    const caller = authorize(deps.access, route.access, requestHeader(context, 'authorization'))
    call = { context, caller, requestId, load, bodyBytes: 0 }
    // Probes of proxies put what they like behind an open path.
    if (route.query === undefined && route.access !== 'open') refuseQuery(call)
    answer = await handler(call)
  } catch (error) {
    const problem = problemOfError(error, deps.log, route.path, requestId)
    answer = problemAnswer(problem, requestId, deps.ledger.random())
  } finally {
    load.requests--
    if (call !== null) load.bodyBytes -= call.bodyBytes
  }
  const caller = route.access === 'open' ? undefined : call?.caller.actor
  finish(deps, context, route.path, answer, { requestId, caller, startedAt })
  return respond(context.req.method, answer)
}

function requireService({ deps, load }: Host, shed: 'first' | 'claims' | 'last'): void {
  // One who settles makes room and is heard to the end; everybody else finds another process.
  if (shed !== 'last' && deps.health.draining()) {
    throw new HttpProblem('draining', errorCodes.draining.meaning)
  }
  requireRoom(load, shed)
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/

function requestIdOf(context: Context<HttpEnv>, deps: HttpDeps): string {
  const given = requestHeader(context, 'x-request-id')
  const taken = given !== undefined && given.length <= limits.requestIdMaxChars && VISIBLE_ASCII.test(given)
  return taken ? given : deps.newRequestId()
}

function refuseIllFormedPath(url: string): void {
  if (!url.includes('%')) return
  const query = url.indexOf('?')
  if (isDecodable(query === -1 ? url : url.slice(0, query))) return
  throw new HttpProblem('invalid_request', 'The path has an ill-formed percent escape; write % itself as %25.')
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

type Taken = { requestId: string; caller: string | undefined; startedAt: number }

function finish(deps: HttpDeps, context: Context<HttpEnv>, route: string, answer: Answer, taken: Taken): void {
  const { method } = context.req
  const { requestId, caller, startedAt } = taken
  const { status } = answer
  const durationMs = performance.now() - startedAt
  answer.headers['x-request-id'] = requestId
  deps.metrics.observeRequest(route, method, status, durationMs / 1000)
  // Tenths of a millisecond: the hot routes take few.
  const rounded = Math.round(durationMs * 10) / 10
  // At thousands of requests a second a line for each is for looking closely; metrics tell the rest.
  deps.log.debug({ method, route, status, duration_ms: rounded, request_id: requestId, caller }, 'request')
}

function respond(method: string, answer: Answer): Response {
  if (method !== 'HEAD') return new Response(answer.body, { status: answer.status, headers: answer.headers })
  // Nobody would read the stream to its end, and what feeds it would stay open.
  if (answer.body instanceof ReadableStream) void answer.body.cancel()
  return new Response(null, { status: answer.status, headers: answer.headers })
}
