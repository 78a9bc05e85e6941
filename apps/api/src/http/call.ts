import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Route } from '@ranbook/contract'
import type { Caller } from '../access/caller.ts'
import type { Answer } from './answer.ts'
import type { Load } from './load.ts'

/** What node-server puts beside a request; `env` itself is undefined under `app.request()`. */
export type HttpEnv = { Bindings: { incoming?: IncomingMessage; outgoing?: ServerResponse } }

/** A request as routes see it: Hono's context, or what `serveDirectly` makes of node's own message. */
export type RequestContext = {
  readonly env: HttpEnv['Bindings'] | undefined
  readonly req: {
    readonly method: string
    readonly path: string
    /** With the query. */
    readonly url: string
    param(name: string): string | undefined
    /** The web's own form of it, where no message stands in `env`. */
    readonly raw?: Pick<Request, 'body' | 'headers' | 'signal'>
  }
}

/** One request on its way. */
export type Call = {
  readonly context: RequestContext
  /** Checked against the route's `access`; `nobody`, who may do nothing, where that is open. */
  readonly caller: Caller
  readonly requestId: string
  /** Checks the caller again, for work that goes on after a wait. Throws 401 or 403 as at the beginning. */
  readonly authorize: () => Caller
  readonly shed: Route['shed']
  readonly load: Load
  /** Of its body as long as that is read, then of what was read from it, until the answer; counted in `load` too. */
  bodyBytes: number
}

export type Handler = (call: Call) => Answer | Promise<Answer>

/** Puts a handler behind a route of the contract. */
export type Serve = (route: Route, handler: Handler) => void

/** A header of the request, read where it costs least. Names in lower case. */
export function requestHeader(context: RequestContext, name: string): string | undefined {
  const incoming = context.env?.incoming
  if (incoming === undefined) return context.req.raw?.headers.get(name) ?? undefined
  const value = incoming.headers[name]
  return typeof value === 'string' ? value : undefined
}
