import type { Problem } from '@ranbook/contract'
import { RanbookError } from './ranbook-error.ts'
import { readTransportOptions, type TransportOptions } from './transport-options.ts'
import { withTimeLimit } from './with-time-limit.ts'

/** One call. `body` undefined sends none. */
type Call = {
  method: 'GET' | 'POST'
  /** From `/`, with what stands in it escaped. */
  path: string
  body?: Record<string, unknown>
  /** Statuses that are answers rather than errors, beside 2xx. */
  answers?: readonly number[]
  /** How much longer the service may take on purpose (`wait_ms`), in ms. */
  waitMs?: number | undefined
  signal?: AbortSignal | undefined
}

/** Resolves to the JSON of the answer, null for 204, which has none. */
export type Transport = (call: Call) => Promise<unknown>

/** Wait before the second try; doubled each time, with full jitter. */
const firstRetryMs = 100
/** No wait of our own is longer; the service may ask for more. */
const longestRetryMs = 5000

/** Answers that say "not now"; 502 and 504 are a proxy's way to say it. Every other refusal would be the same again. */
const passingStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/**
 * Sends calls with time limits and repeats. A call is repeated, with the same body, after a lost connection, a time-out
 * and the statuses that pass, never past its deadline. Every call of the client is safe to repeat, claims because they
 * carry their token. Throws `RanbookError`; an abort of the caller's signal is thrown as the signal's own reason, a
 * body that is no JSON as `TypeError`.
 */
export function createTransport(given: TransportOptions): Transport {
  const options = readTransportOptions(given)
  return async (call) => {
    const body = call.body === undefined ? null : JSON.stringify(call.body)
    const waitedFor = call.waitMs ?? 0
    const until = performance.now() + options.deadlineMs + waitedFor
    for (let attempt = 0; ; attempt++) {
      const leftMs = until - performance.now()
      const outcome = await tryOnce(options, call, body, Math.min(options.attemptTimeoutMs + waitedFor, leftMs))
      if (outcome.kind === 'answer') return outcome.value
      const { error } = outcome
      const backoffMs = Math.random() * Math.min(firstRetryMs * 2 ** attempt, longestRetryMs)
      // The jitter comes on top of what was asked for, so that all who were refused together do not return together.
      const pauseMs = (error.retryAfterMs ?? 0) + backoffMs
      const passing = error.code === 'unreachable' || passingStatuses.has(error.status)
      if (!passing || attempt >= options.retries || performance.now() + pauseMs >= until) throw error
      await pause(pauseMs, call.signal)
    }
  }
}

type Outcome = { kind: 'answer'; value: unknown } | { kind: 'refused'; error: RanbookError }

async function tryOnce(
  { base, headers, send }: ReturnType<typeof readTransportOptions>,
  call: Call,
  body: string | null,
  timeoutMs: number,
): Promise<Outcome> {
  let answer: { response: Response; text: string }
  try {
    answer = await withTimeLimit(timeoutMs, call.signal, async (signal) => {
      const response = await send(base + call.path, {
        method: call.method,
        headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
        body,
        signal,
        // Followed, a redirect would turn a claim into a GET, and take the key to wherever it leads.
        redirect: 'manual',
      })
      return { response, text: await response.text() }
    })
  } catch (cause) {
    call.signal?.throwIfAborted()
    const why = cause instanceof Error && cause.name === 'TimeoutError' ? cause.message : 'the connection failed'
    const message = `${call.method} ${call.path}: ${why}`
    return { kind: 'refused', error: new RanbookError('unreachable', message, { status: 0, cause }) }
  }
  return judge(call, answer.response, answer.text)
}

function judge(call: Call, response: Response, text: string): Outcome {
  const value = response.status === 204 ? null : parse(text)
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') ?? false
  const expected = response.ok || call.answers?.includes(response.status) === true
  if (expected && !isProblem && value !== undefined) return { kind: 'answer', value }

  const { status } = response
  const problem = isProblem && value !== undefined ? (value as Problem) : null
  const error =
    problem === null
      ? new RanbookError('unexpected_answer', `${call.method} ${call.path}: ${status}, and no word of Ranbook's`, {
          status,
          retryAfterMs: retryAfterMs(response),
        })
      : new RanbookError(problem.code, problem.detail, { status, problem, retryAfterMs: retryAfterMs(response) })
  return { kind: 'refused', error }
}

/** Undefined for what is not JSON, such as a proxy's error page or an answer whose body got lost on the way. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The service sends seconds. A proxy's date is left alone: it would be judged by this machine's clock. */
function retryAfterMs(response: Response): number | null {
  const seconds = response.headers.get('retry-after')
  return seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : null
}

/** Resolves after `ms`; rejects with the signal's reason when that is aborted before. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}
