import { errorCodes, type Route } from '@ranbook/contract'
import type { Hono } from 'hono'
import type { Router } from 'hono/router'
import type { Caller } from '../access/caller.ts'
import type { Answer } from './answer.ts'
import { authorize } from './authorize.ts'
import { type Call, type Handler, type HttpEnv, type RequestContext, requestHeader, type Serve } from './call.ts'
import type { HttpDeps } from './http-deps.ts'
import { type Load, requireRoom } from './load.ts'
import { refuseQuery } from './parse-query.ts'
import { HttpProblem, problemAnswer } from './problem.ts'
import { problemOfError } from './problem-of-error.ts'
import { requestIdOf } from './request-id.ts'
import { streamTexts } from './stream-texts.ts'

/** What answering needs of the app around it. */
export type Host = {
  deps: HttpDeps
  load: Load
  /** The routes by method and path, for requests that need nothing of Hono. */
  table: Router<(context: RequestContext) => Promise<Answered>>
}

/** The app, and its routes for who serves them without it, see `requestListener`. */
export type App = Hono<HttpEnv> & Pick<Host, 'table'>

/**
 * An answer, and what has to be called once when it is over: handed on, or where it is made as it is read, made to its end
 * or to the fault that ended it.
 */
export type Answered = Answer & { done: (fault: { error: unknown } | null) => void }

/**
 * Registers routes on `app` and in the host's own table. Everything a route does around its handler happens in
 * `answerRequest` and not in a chain of middlewares, which cost microseconds each.
 */
export function serveRoutes(app: Hono<HttpEnv>, host: Host): Serve {
  return (route, handler) => {
    const answer = (context: RequestContext) => answerRequest(host, context, route, handler)
    app.on(route.method, route.path, async (context) => responseOf(context, await answer(context)))
    host.table.add(route.method, route.path, answer)
  }
}

/**
 * Runs one request through its handler and never rejects: whatever is thrown becomes a problem document. Around it:
 * bounded work, request id, path check, access, log line and metrics.
 */
export async function answerRequest(
  host: Host,
  context: RequestContext,
  route: ServedRoute,
  handler: Handler,
): Promise<Answered> {
  const { deps, load } = host
  const startedAt = performance.now()
  const requestId = requestIdOf(requestHeader(context, 'x-request-id'), deps.newRequestId)
  const check = (): Caller => authorize(deps.access, route.access, requestHeader(context, 'authorization'))
  let call: Call | null = null
  let answer: Answer
  load.requests++
  try {
    if (route.shed !== 'never') requireService(host, route.shed)
    refuseIllFormedPath(context.req.url)
    call = { context, caller: check(), authorize: check, requestId, shed: route.shed, load, bodyBytes: 0 }
    // Probes of proxies put what they like behind an open path.
    if (route.query === undefined && route.access !== 'open') refuseQuery(call)
    answer = await handler(call)
  } catch (error) {
    const problem = problemOfError(error, deps.log, route.path, requestId)
    answer = problemAnswer(problem, requestId, deps.ledger.random())
  }
  answer.headers['x-request-id'] = requestId
  const caller = route.access === 'open' ? undefined : call?.caller.actor
  const done = (fault: { error: unknown } | null): void => {
    if (fault !== null) problemOfError(fault.error, deps.log, route.path, requestId)
    load.requests--
    if (call !== null) load.bodyBytes -= call.bodyBytes
    report(deps, context, route.path, answer.status, { requestId, caller, startedAt })
  }
  return { status: answer.status, headers: answer.headers, body: answer.body, done }
}

/** The answer as Hono takes it. */
export function responseOf(context: RequestContext, { status, headers, body, done }: Answered): Response {
  if (isMadeAsRead(body)) return new Response(streamTexts(body, done), { status, headers })
  done(null)
  return new Response(context.req.method === 'HEAD' ? null : body, { status, headers })
}

/** What is thrown outside of `answerRequest` is a problem document and a log line like any other. */
export function serveFailures(app: Hono<HttpEnv>, { deps }: Host): void {
  app.onError((error, context) => {
    const requestId = requestIdOf(requestHeader(context, 'x-request-id'), deps.newRequestId)
    const problem = problemOfError(error, deps.log, '(unknown)', requestId)
    const { status, headers, body } = problemAnswer(problem, requestId, deps.ledger.random())
    return new Response(body, { status, headers: { ...headers, 'x-request-id': requestId } })
  })
}

function isMadeAsRead(body: Answer['body']): body is AsyncGenerator<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

function requireService({ deps, load }: Host, shed: 'first' | 'claims' | 'last'): void {
  // One who settles makes room and is heard to the end; everybody else finds another process.
  if (shed !== 'last' && deps.health.draining()) {
    throw new HttpProblem('draining', errorCodes.draining.meaning)
  }
  requireRoom(load, shed)
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

type ServedRoute = Pick<Route, 'path' | 'access' | 'shed' | 'query'>

type Taken = { requestId: string; caller: string | undefined; startedAt: number }

function report(deps: HttpDeps, context: RequestContext, route: string, status: number, taken: Taken): void {
  const { method } = context.req
  const { requestId, caller, startedAt } = taken
  const durationMs = performance.now() - startedAt
  deps.metrics.observeRequest(route, method, status, durationMs / 1000)
  // Tenths of a millisecond: the hot routes take few.
  const rounded = Math.round(durationMs * 10) / 10
  // At thousands of requests a second a line for each is for looking closely; metrics tell the rest.
  deps.log.debug({ method, route, status, duration_ms: rounded, request_id: requestId, caller }, 'request')
}
