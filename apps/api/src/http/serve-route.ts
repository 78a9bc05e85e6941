import { errorCodes, type Route } from '@ranbook/contract'
import type { Context, Hono } from 'hono'
import type { Caller } from '../access/caller.ts'
import type { Answer } from './answer.ts'
import { authorize } from './authorize.ts'
import { type Call, type Handler, type HttpEnv, requestHeader, type Serve } from './call.ts'
import type { HttpDeps } from './http-deps.ts'
import { type Load, requireRoom } from './load.ts'
import { refuseQuery } from './parse-query.ts'
import { HttpProblem, problemAnswer } from './problem.ts'
import { problemOfError } from './problem-of-error.ts'
import { requestIdOf } from './request-id.ts'
import { streamTexts } from './stream-texts.ts'

/** What `answerRequest` needs of the app around it. */
export type Host = { deps: HttpDeps; load: Load }

/**
 * Registers routes on `app`. Everything a route does around its handler happens here, in one function and not in a
 * chain of middlewares, which cost microseconds each: bounded work, request id, path check, access, errors as problem
 * documents, log line and metrics, those of an answer that is made as it is read at its end.
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
  const done = (): void => {
    load.requests--
    if (call !== null) load.bodyBytes -= call.bodyBytes
    report(deps, context, route.path, answer.status, { requestId, caller, startedAt })
  }
  const { status, headers, body } = answer
  if (isMadeAsRead(body)) {
    const made = streamTexts(body, (fault) => {
      if (fault !== null) problemOfError(fault.error, deps.log, route.path, requestId)
      done()
    })
    return new Response(made, { status, headers })
  }
  done()
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

type Taken = { requestId: string; caller: string | undefined; startedAt: number }

function report(deps: HttpDeps, context: Context<HttpEnv>, route: string, status: number, taken: Taken): void {
  const { method } = context.req
  const { requestId, caller, startedAt } = taken
  const durationMs = performance.now() - startedAt
  deps.metrics.observeRequest(route, method, status, durationMs / 1000)
  // Tenths of a millisecond: the hot routes take few.
  const rounded = Math.round(durationMs * 10) / 10
  // At thousands of requests a second a line for each is for looking closely; metrics tell the rest.
  deps.log.debug({ method, route, status, duration_ms: rounded, request_id: requestId, caller }, 'request')
}
