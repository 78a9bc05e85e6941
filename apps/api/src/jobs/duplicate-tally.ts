import type { DuplicateTally, RecordStore } from '@ranbook/rules'
import { startFlushedTally } from './flushed-tally.ts'
import type { Job } from './job.ts'

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
 * path writes nothing. What is stored is a lower bound, see `startFlushedTally`.
 */
export function startDuplicateTally({ store, lost, failed }: TallyDeps): TallyJob {
  const tally = startFlushedTally<DuplicateTally>({
    everyMs: flushEveryMs,
    maxKeys,
    batchKeys,
    merge: (newer, untried) => {
      newer.count += untried.count
      // The database's clock may have been set back in between.
      newer.firstAt = Math.min(newer.firstAt, untried.firstAt)
      newer.lastAt = Math.max(newer.lastAt, untried.lastAt)
    },
    store: (entries) => store.addDuplicates(entries.map(([digest, counted]) => ({ digest, ...counted }))),
    lost: ({ count }) => lost(count),
    failed,
  })

  return {
    add: (digest, now) => {
      const standing = tally.get(digest)
      if (standing !== undefined) {
        standing.count += 1
        standing.firstAt = Math.min(standing.firstAt, now)
        standing.lastAt = Math.max(standing.lastAt, now)
      } else if (!tally.begin(digest, { count: 1, firstAt: now, lastAt: now })) {
        lost(1)
      }
    },
    stop: tally.stop,
  }
}
