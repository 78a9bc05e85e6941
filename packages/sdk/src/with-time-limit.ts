/**
 * Runs `work` with a signal that is aborted after `ms`, with a `TimeoutError`, or when `outer` is, with its reason.
 * Nothing of it is left afterwards, neither a timer nor a listener: a signal that lives as long as its process can be
 * given to every call.
 */
export async function withTimeLimit<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted()
  const limit = new AbortController()
  const onAbort = () => limit.abort(outer?.reason)
  const timer = setTimeout(() => {
    limit.abort(new DOMException(`no answer within ${Math.round(ms)} ms`, 'TimeoutError'))
  }, ms)
  outer?.addEventListener('abort', onAbort)
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', onAbort)
  }
}
