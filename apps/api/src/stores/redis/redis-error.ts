import { StoreError } from '@ranbook/rules'

/** The `StoreError` of whatever a command was refused with, or of no answer to it. */
export function redisError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const text = error instanceof Error ? error.message : String(error)
  return /^OOM\b/.test(text)
    ? new StoreError('storage_full', 'Redis has no memory left', { cause: error })
    : new StoreError('window_unavailable', `Redis did not answer: ${text.slice(0, 200)}`, { cause: error })
}
