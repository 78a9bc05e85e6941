import { StoreError } from '@ranbook/rules'
import { type Job, repeatedly } from './job.ts'

/** What is counted between two flushes, by key. Values are changed in place; one that was flushed is not met again. */
export type FlushedTally<Value> = Job & {
  get(key: string): Value | undefined
  /** Begins a key that `get` does not know; false where the memory set aside is full. */
  begin(key: string, value: Value): boolean
}

export type FlushedTallyOptions<Value> = {
  everyMs: number
  /** Keys kept in memory at most. */
  maxKeys: number
  /** Keys of one write. */
  batchKeys: number
  /** Adds what a write left untried to what came since. */
  merge: (newer: Value, untried: Value) => void
  /** Throws StoreError `overloaded` only where nothing was written. */
  store: (entries: readonly (readonly [key: string, value: Value])[]) => Promise<void>
  /** Values that are given up: their write's outcome is unknown, or memory was full when they came back untried. */
  lost: (value: Value) => void
  /** Called as what was counted so far is taken away to be stored. */
  taken?: () => void
  failed: (error: unknown) => void
}

/**
 * Counts in memory and adds it to a store every `everyMs` and at `stop`, so that whoever counts waits for nothing. What
 * is stored is a lower bound: kill -9 loses what came since the last flush, and a write whose outcome is unknown is not
 * repeated.
 */
export function startFlushedTally<Value>(options: FlushedTallyOptions<Value>): FlushedTally<Value> {
  const { everyMs, maxKeys, batchKeys, merge, store, lost, taken, failed } = options
  let pending = new Map<string, Value>()

  const flush = async (): Promise<void> => {
    const entries = [...pending]
    pending = new Map()
    taken?.()
    for (let from = 0; from < entries.length; from += batchKeys) {
      const batch = entries.slice(from, from + batchKeys)
      try {
        await store(batch)
      } catch (error) {
        // Only what was never written may be tried again; counting twice would break "at least".
        const untouched = error instanceof StoreError && error.code === 'overloaded'
        putBack(entries.slice(untouched ? from : from + batchKeys))
        if (!untouched) for (const [, value] of batch) lost(value)
        throw error
      }
    }
  }

  const begin = (key: string, value: Value): boolean => {
    if (pending.size >= maxKeys) return false
    pending.set(key, value)
    return true
  }

  const putBack = (entries: readonly [string, Value][]): void => {
    for (const [key, value] of entries) {
      const newer = pending.get(key)
      if (newer !== undefined) merge(newer, value)
      else if (!begin(key, value)) lost(value)
    }
  }

  const job = repeatedly(everyMs, flush, failed)
  return {
    get: (key) => pending.get(key),
    begin,
    stop: async () => {
      await job.stop()
      await flush().catch(failed)
    },
  }
}
