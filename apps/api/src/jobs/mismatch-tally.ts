import { type LedgerRecord, type MismatchCount, type MismatchStore, recordId } from '@ranbook/rules'
import { startFlushedTally } from './flushed-tally.ts'
import type { Job } from './job.ts'

/** How far behind the stored counts may be, and what a crash may lose. */
const flushEveryMs = 5000
/** With a key of the longest kind about 1.5 kB each: at most some 15 MB. More at once are one broken producer. */
const maxRecords = 10_000
/** Of one statement; keys are up to a kilobyte each. */
const batchRecords = 200

export type MismatchTally = Job & {
  /** Counts a delivery of the record that came with another payload, at `now` (store clock, ms). Never waits. */
  add(record: LedgerRecord, now: number): void
}

export type MismatchTallyDeps = {
  store: Pick<MismatchStore, 'add'>
  /** Deliveries that are not counted: too many records at once, or a write whose outcome is unknown. */
  lost: (deliveries: number) => void
  failed: (error: unknown) => void
}

/**
 * Counts claims answered `mismatch` by record, in memory; added to the store every few seconds and at `stop`. What is
 * stored is a lower bound, see `startFlushedTally`.
 */
export function startMismatchTally({ store, lost, failed }: MismatchTallyDeps): MismatchTally {
  const tally = startFlushedTally<MismatchCount>({
    everyMs: flushEveryMs,
    maxKeys: maxRecords,
    batchKeys: batchRecords,
    merge: (newer, untried) => {
      newer.count += untried.count
      // The store's clock may have been set back in between.
      newer.firstAt = Math.min(newer.firstAt, untried.firstAt)
      newer.lastAt = Math.max(newer.lastAt, untried.lastAt)
    },
    store: (entries) => store.add(entries.map(([, count]) => count)),
    lost: ({ count }) => lost(count),
    failed,
  })

  return {
    add: (record, now) => {
      const id = recordId(record)
      const standing = tally.get(id)
      if (standing !== undefined) {
        standing.count += 1
        standing.firstAt = Math.min(standing.firstAt, now)
        standing.lastAt = Math.max(standing.lastAt, now)
        return
      }
      const { class: name, consumer, key } = record
      const first = { recordId: id, class: name, consumer, key, count: 1, firstAt: now, lastAt: now }
      if (!tally.begin(id, first)) lost(1)
    },
    stop: tally.stop,
  }
}
