import type { RecordState } from '@ranbook/contract'
import type { Change, NewRecord } from './decide.ts'
import type { ArchivedAttempt, Details, LedgerRecord } from './record.ts'
import type { Scope } from './scope.ts'

/** `inserted`: nothing stood there and `record` is ours. Else `record` stands there, as read after the try. */
export type InsertOutcome = {
  inserted: boolean
  record: LedgerRecord
  /** The request's token had an earlier, displaced attempt of this record. False when inserted. */
  tokenSpent: boolean
  /** The store's clock in ms. */
  now: number
}

/** One identity to read; `claimToken` asks whether that token had a displaced attempt of it. */
export type ReadRequest = { digest: string; claimToken: string | null }
export type ReadOutcome = { record: LedgerRecord; tokenSpent: boolean; now: number }

/**
 * A guarded write without a read: complete where the token is current, the state still `claimed` and the record of that
 * consumer (null: of any).
 */
export type CompleteRequest = { digest: string; claimToken: string; consumer: string | null; result: string | null }

/** A record with what people read. `duplicates` counts suppressed deliveries, a second or so behind. */
export type FullRecord = {
  record: LedgerRecord
  details: Details
  duplicates: DuplicateTally | null
}

/** The same as lists show it: without payload and result, which may be large. */
export type ListedRecord = {
  record: Omit<LedgerRecord, 'result'>
  hasResult: boolean
  hasPayload: boolean
  details: Omit<Details, 'payload'>
  duplicates: DuplicateTally | null
}

export type DuplicateTally = { count: number; firstAt: number; lastAt: number }

/** A result that came after the claim was no longer its sender's. */
export type LateCompletion = { digest: string; claimToken: string; result: string | null; at: number }

/**
 * Of attempts that were given back, which a consumer may do for ever, a history shows the newest. The others are bounded
 * by the policy, and each tells whether the effect may have run.
 */
export const releasedAttemptsShown = 1000

/** What is kept about one record beside itself, oldest first; see `releasedAttemptsShown`. */
export type RecordHistory = { attempts: ArchivedAttempt[]; lateCompletions: LateCompletion[] }

/** All given filters hold. Newest first by (firstClaimedAt, digest); `after` is the last row of the page before. */
export type RecordFilter = {
  /** Only these records. */
  digests: readonly string[] | null
  /** Any one of the caller's scopes covers it; null: everything. */
  scope: readonly Scope[] | null
  class: string | null
  consumer: string | null
  /** As shown: an overdue `hold` claim is held, see `visibleState`. */
  state: RecordState | null
  keyPrefix: string | null
  ref: string | null
  source: string | null
  seq: string | null
  /** Inclusive, ms. */
  from: number | null
  /** Exclusive, ms. */
  to: number | null
  after: { firstClaimedAt: number; digest: string } | null
  limit: number
}

/** A filter that every record passes; spread it and name what is wanted. */
export const unfiltered: Omit<RecordFilter, 'limit'> = {
  digests: null,
  scope: null,
  class: null,
  consumer: null,
  state: null,
  keyPrefix: null,
  ref: null,
  source: null,
  seq: null,
  from: null,
  to: null,
  after: null,
}

/**
 * Where records stand that are claimed and settled. A store knows no rules: it inserts where nothing stands, reads, and
 * changes a version it is told. Each item of an array call is atomic by itself; items answer in order. An answer means it is durable.
 * Every method throws `StoreError` when the store can't be reached or refuses; the outcome is then unknown.
 */
export type ClaimStore = {
  /**
   * Grants where nothing stands: state claimed, version 1, generation 1, attempt 1, times from the store's clock, a
   * fresh fencing number. Two items of one identity in one call: one inserts, the other reads it.
   */
  insertIfAbsent(records: readonly NewRecord[]): Promise<InsertOutcome[]>
  /** Null where nothing stands. */
  read(requests: readonly ReadRequest[]): Promise<(ReadOutcome | null)[]>
  /**
   * Writes `record` over the version `expectVersion`, archives the displaced attempt and fills details that are null,
   * all or nothing. A change that `grants` gets a fencing number drawn after the call began. True where applied.
   * Two changes of one identity in one call are applied one after the other.
   */
  compareAndSet(changes: readonly Change[]): Promise<({ record: LedgerRecord } | null)[]>
  /**
   * `completedFields` in one guarded write; null where the guard does not hold.
   * Two items of one identity in one call are applied one after the other.
   */
  completeClaimed(requests: readonly CompleteRequest[]): Promise<({ record: LedgerRecord; now: number } | null)[]>
}

/** The permanent ledger: what is claimed and settled there is also swept, searched and shown with its history. */
export type RecordStore = ClaimStore & {
  /** Claimed records with `sweepAt` not after the store's clock, oldest first. */
  findExpired(limit: number): Promise<ReadOutcome[]>
  /** Cold reads, on their own few connections with a statement time limit. */
  search(filter: RecordFilter): Promise<{ rows: ListedRecord[]; now: number }>
  readFull(digests: readonly string[]): Promise<{ rows: (FullRecord | null)[]; now: number }>
  readHistory(digest: string): Promise<RecordHistory>
  /** Adds to the tallies of records that still stand. */
  addDuplicates(tallies: readonly ({ digest: string } & DuplicateTally)[]): Promise<void>
  /**
   * Keeps the first late result of each (record, token), of records that still stand; none of an attempt that completed
   * in time.
   */
  keepLateCompletions(late: readonly Omit<LateCompletion, 'at'>[]): Promise<void>
}

/** Why a store could not answer. The caller must take the outcome of a write as unknown. */
export type StoreErrorCode = 'store_unavailable' | 'storage_full' | 'overloaded' | 'window_unavailable'

/** Thrown by stores; `code` is the problem code the API answers with (503). */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** A sentence for whoever asked, where asking otherwise would help: unlike the message it quotes nothing. */
  readonly advice: string | null
  constructor(code: StoreErrorCode, message: string, options: ErrorOptions & { advice?: string } = {}) {
    super(message, options)
    this.code = code
    this.advice = options.advice ?? null
  }
}
