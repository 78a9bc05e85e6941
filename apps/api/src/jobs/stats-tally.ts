import {
  type ClassCounts,
  type ClassMinute,
  type LedgerRecord,
  runTimeBucket,
  runTimeBuckets,
  type StatsStore,
} from '@ranbook/rules'
import type { LedgerObserver } from '../ledger/ledger-deps.ts'
import { startFlushedTally } from './flushed-tally.ts'
import type { Job } from './job.ts'

/** How far behind the stored counts may be, and what a crash may lose. Each flush rewrites a row for each class in use. */
const flushEveryMs = 5000
/** About 500 bytes each: at most some 10 MB, for more classes than anybody names in five seconds but an attacker. */
const maxCells = 20_000
/** Rows of one statement, which shares few connections with what people read. */
const batchCells = 500

const minuteMs = 60_000

/** Counts what it observes. */
export type StatsTally = Job & LedgerObserver

export type StatsTallyDeps = {
  store: Pick<StatsStore, 'add'>
  /** Events that are not counted: too many classes at once, or a write whose outcome is unknown. */
  lost: (events: number) => void
  failed: (error: unknown) => void
}

/**
 * Counts what happens by class and minute, by the clock of the store it happened in, in memory; added to the store every
 * few seconds and at `stop`. The path of a claim pays one look-up by its class and some additions. What is stored is a
 * lower bound, see `startFlushedTally`.
 */
export function startStatsTally({ store, lost, failed }: StatsTallyDeps): StatsTally {
  /** The cell that each class was counted in last: nearly always the one for its next event. */
  let latest = new Map<string, ClassMinute>()

  const tally = startFlushedTally<ClassMinute>({
    everyMs: flushEveryMs,
    maxKeys: maxCells,
    batchKeys: batchCells,
    merge: (newer, untried) => addCounts(newer.counts, untried.counts),
    store: (entries) => store.add(entries.map(([, cell]) => cell)),
    lost: ({ counts }) => lost(eventsIn(counts)),
    taken: () => {
      latest = new Map()
    },
    failed,
  })

  /** Counts of the class in the minute of `at`; thrown away where the memory set aside is full. */
  const countsOf = (className: string, at: number): ClassCounts => {
    const near = latest.get(className)
    if (near !== undefined && at >= near.minute && at < near.minute + minuteMs) return near.counts
    const minute = Math.floor(at / minuteMs) * minuteMs
    const key = `${minute} ${className}`
    const standing = tally.get(key)
    const cell = standing ?? { class: className, minute, counts: noCounts() }
    if (standing === undefined && !tally.begin(key, cell)) {
      lost(1)
      return cell.counts
    }
    latest.set(className, cell)
    return cell.counts
  }

  return {
    claimed: (record) => {
      countsOf(record.class, record.claimedAt).claims += 1
    },
    answered: (outcome, record, now) => {
      if (outcome === 'duplicate') countsOf(record.class, now).duplicates += 1
      else if (outcome === 'mismatch') countsOf(record.class, now).mismatches += 1
    },
    settled: (verb, record) => {
      if (verb === 'complete') countCompleted(countsOf(record.class, endOf(record)), record)
      else if (verb === 'fail') countsOf(record.class, endOf(record)).failed += 1
    },
    expired: (record) => {
      const counts = countsOf(record.class, record.leaseExpiresAt ?? endOf(record))
      counts.expired += 1
      if (record.state === 'held') counts.held += 1
    },
    stop: tally.stop,
  }
}

function countCompleted(counts: ClassCounts, record: LedgerRecord): void {
  counts.completed += 1
  const bucket = runTimeBucket(endOf(record) - record.claimedAt)
  counts.runTimes[bucket] = (counts.runTimes[bucket] ?? 0) + 1
}

function endOf(record: LedgerRecord): number {
  return record.endedAt ?? record.claimedAt
}

function noCounts(): ClassCounts {
  return {
    claims: 0,
    duplicates: 0,
    completed: 0,
    failed: 0,
    expired: 0,
    held: 0,
    mismatches: 0,
    runTimes: new Array(runTimeBuckets).fill(0),
  }
}

function addCounts(into: ClassCounts, more: ClassCounts): void {
  into.claims += more.claims
  into.duplicates += more.duplicates
  into.completed += more.completed
  into.failed += more.failed
  into.expired += more.expired
  into.held += more.held
  into.mismatches += more.mismatches
  for (const [bucket, count] of more.runTimes.entries()) into.runTimes[bucket] = (into.runTimes[bucket] ?? 0) + count
}

function eventsIn({ claims, duplicates, completed, failed, expired, mismatches }: ClassCounts): number {
  return claims + duplicates + completed + failed + expired + mismatches
}
