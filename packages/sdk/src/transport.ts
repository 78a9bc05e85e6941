import type { Problem } from '@ranbook/contract'
import { RanbookError } from './ranbook-error.ts'

/** How requests are sent. Every duration is in milliseconds. */
export type TransportOptions = {
  /** Where the service listens, such as `http://127.0.0.1:8080`. */
  url: string
  /** `rbk_…`, or the admin key. */
  apiKey: string
  /** For one try. Default 5 000. */
  attemptTimeoutMs?: number
  /** For all tries and waits of a call. Default 15 000. */
  deadlineMs?: number
  /** Further tries after the first, only where repeating is safe. Default 3; 0 means none. */
  retries?: number
  /** Default: the global `fetch`. */
  fetch?: typeof fetch
}

/** One call. `body` undefined sends none. */
export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  body?: unknown
  /** Statuses that are answers rather than errors, beside 2xx. */
  answers?: readonly number[]
  /** How much longer the service may take on purpose (`wait_ms`), in ms. */
  waitMs?: number
  signal?: AbortSignal | undefined
}

export type Transport = (call: Call) => Promise<unknown>

/** First wait before a repeated request; it doubles, with full jitter. */
const firstRetryMs = 100

/**
 * Sends calls with time-outs and retries. A call is repeated after a lost connection, a time-out, 429 or 503, and never
 * past its deadline: every call of the client is safe to repeat, claims because they carry their token. Throws
 * `RanbookError`; an abort of the caller's signal is thrown as it is.
 */
export function createTransport(options: TransportOptions): Transport {
  const base = options.url.replace(/\/+$/, '')
  const attemptTimeoutMs = options.attemptTimeoutMs ?? 5000
  const deadlineMs = options.deadlineMs ?? 15_000
  const retries = options.retries ?? 3
  const send = options.fetch ?? fetch

  return async (call) => {
    const until = Date.now() + deadlineMs + (call.waitMs ?? 0)
    for (let attempt = 0; ; attempt++) {
      const timeoutMs = Math.max(1, Math.min(attemptTimeoutMs + (call.waitMs ?? 0), until - Date.now()))
      const outcome = await tryOnce(send, base, options.apiKey, call, timeoutMs)
      if ('value' in outcome) return outcome.value
      const { error } = outcome
      const repeatable = error.status === 0 || error.status === 429 || error.status === 503
      const waitMs = Math.max(error.retryAfterMs ?? 0, Math.random() * firstRetryMs * 2 ** attempt)
      if (!repeatable || attempt >= retries || Date.now() + waitMs >= until) throw error
      await pause(waitMs, call.signal)
    }
  }
}

async function tryOnce(
  send: typeof fetch,
  base: string,
  apiKey: string,
  call: Call,
  timeoutMs: number,
): Promise<{ value: unknown } | { error: RanbookError }> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const headers: Record<string, string> = { authorization: `Bearer ${apiKey}`, accept: 'application/json' }
  if (call.body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  let text: string
  try {
    response = await send(base + call.path, {
      method: call.method,
      headers,
      signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    })
    text = await response.text()
  } catch (cause) {
    call.signal?.throwIfAborted()
    const why = timeout.aborted ? `no answer within ${timeoutMs} ms` : 'the service can not be reached'
    return { error: new RanbookError('unreachable', `${call.method} ${call.path}: ${why}`, { status: 0, cause }) }
  }
  const value = parse(text)
  if (value !== undefined && (response.ok || call.answers?.includes(response.status)) && !isProblem(response)) {
    return { value }
  }
  if (response.status === 204) return { value: null }
  const problem = isProblem(response) && value !== undefined ? (value as Problem) : null
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return {
    error: new RanbookError(problem?.code ?? 'unreachable', problem?.detail ?? `unexpected answer ${response.status}`, {
      status: response.status,
      problem,
      retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : null,
    }),
  }
}

function isProblem(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('application/problem+json') ?? false
}

/** Undefined for a body that is not JSON: a proxy's error page, say. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
