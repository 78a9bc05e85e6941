import { type DuplicateTally, type RecordStore, StoreError } from '@ranbook/rules'
import { type Job, repeatedly } from './job.ts'

/** How far behind the stored tallies may be, and what a crash may lose. */
const flushEveryMs = 1000
/** About 200 bytes each: at most some 20 MB, and more distinct keys are duplicated in one second only by an attack. */
const maxKeys = 100_000
/** Tallies of one statement: enough to amortise the round trip, few enough not to hold up claims. */
const batchKeys = 500

export type TallyJob = Job & {
  /** Counts a suppressed delivery of the record at `now` (store clock, ms). Never waits. */
  add(digest: string, now: number): void
}

export type TallyDeps = {
  store: Pick<RecordStore, 'addDuplicates'>
  /** Deliveries that were not tallied: too many keys at once, or a write whose outcome is unknown. */
  lost: (deliveries: number) => void
  failed: (error: unknown) => void
}

/**
 * Tallies suppressed duplicates in memory and adds them to the store each second and at `stop`, so that the duplicate
 * path writes nothing. What is stored is a lower bound: kill -9 loses the last second, and a write whose outcome is
 * unknown is not repeated.
 */
export function startDuplicateTally({ store, lost, failed }: TallyDeps): TallyJob {
  let pending = new Map<string, DuplicateTally>()

  const add = (digest: string, now: number): void => {
    const standing = pending.get(digest)
    if (standing) {
      standing.count += 1
      standing.firstAt = Math.min(standing.firstAt, now)
      standing.lastAt = Math.max(standing.lastAt, now)
    } else if (pending.size < maxKeys) {
      pending.set(digest, { count: 1, firstAt: now, lastAt: now })
    } else {
      lost(1)
    }
  }

  const flush = async (): Promise<void> => {
    const entries = [...pending]
    pending = new Map()
    for (let from = 0; from < entries.length; from += batchKeys) {
      const batch = entries.slice(from, from + batchKeys)
      try {
        await store.addDuplicates(batch.map(([digest, tally]) => ({ digest, ...tally })))
      } catch (error) {
        // Only what was never tried may be tried again; counting twice would break "at least".
        const untouched = error instanceof StoreError && error.code === 'overloaded'
        putBack(entries.slice(untouched ? from : from + batchKeys))
        if (!untouched) lost(batch.reduce((sum, [, tally]) => sum + tally.count, 0))
        throw error
      }
    }
  }

  const putBack = (entries: readonly [string, DuplicateTally][]): void => {
    for (const [digest, tally] of entries) {
      const newer = pending.get(digest)
      if (newer) {
        // The database's clock may have been set back in between.
        pending.set(digest, {
          count: tally.count + newer.count,
          firstAt: Math.min(tally.firstAt, newer.firstAt),
          lastAt: Math.max(tally.lastAt, newer.lastAt),
        })
      } else if (pending.size < maxKeys) {
        pending.set(digest, tally)
      } else {
        lost(tally.count)
      }
    }
  }

  const job = repeatedly(flushEveryMs, flush, failed)
  return {
    add,
    stop: async () => {
      await job.stop()
      await flush().catch(failed)
    },
  }
}
