import type { EndedSpan } from './retention.ts'
import type { Scope } from './scope.ts'

/** A count that ended at its bound where there were `more`. */
export type Bounded = { count: number; more: boolean }

/** What retention did to a class so far. Times in ms; `keysCompleteSince` null: no key was forgotten. */
export type RetentionProgress = {
  class: string
  keysCompleteSince: number | null
  lastRun: { at: number; tookMs: number } | null
  erased: number
  forgotten: number
}

/** Settled records of a class in the ledger by when their last attempt ended; `erased` null: details gone or not. */
export type SettledRange = { class: string; erased: boolean | null; ended: EndedSpan }

/**
 * What the pruner does to the ledger. Each batch is one transaction. Of a class one store at a time works: another one
 * stays away from it for as long as its batches follow each other.
 */
export type RetentionStore = {
  /** Every class that ever claimed. */
  classesSeen(): Promise<string[]>
  /**
   * Erases the details of at most `limit` settled records that ended at least `retentionMs` ago, the longest ago first.
   * How many; null where another store is at this class.
   */
  eraseDetails(className: string, retentionMs: number, limit: number): Promise<number | null>
  /** Forgets as many keys likewise, and moves the time since when the class is complete, all or nothing. */
  forgetKeys(className: string, retentionMs: number, limit: number): Promise<number | null>
  /** Notes that a run looked after these classes. */
  noteRun(runs: readonly { class: string; tookMs: number }[]): Promise<void>
  /** Notes that the ledger holds no record of a class that moved to windows, where that is so and stays so. */
  releaseLedger(className: string): Promise<void>
  /** By class, above `after`. */
  progress(scope: Scope, after: string | null, limit: number): Promise<{ rows: RetentionProgress[]; now: number }>
  /** Over all ranges at most `limit`, and no more than is counted in a second. */
  countSettled(ranges: readonly SettledRange[], limit: number): Promise<Bounded>
  /** Records of these classes, likewise. */
  countRecords(classes: readonly string[], limit: number): Promise<Bounded>
}
