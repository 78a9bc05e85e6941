import type { Policy } from '@ranbook/contract'
import type { LedgerRecord, RecordStore } from '@ranbook/rules'
import type { Windows } from './windows.ts'

/** What happens in the ledger, for counters and the tally of suppressed duplicates. Never awaited, never throws. */
export type LedgerObserver = {
  claimed(record: LedgerRecord): void
  answered(outcome: string, record: LedgerRecord, now: number): void
  settled(verb: string, record: LedgerRecord): void
  expired(record: LedgerRecord): void
}

/** Policies in force in this process. */
export type PolicyBook = {
  /** The policy that governs a class, as last read. */
  policyFor(className: string): Policy
  /** Throws `PoliciesStale` where they could not be re-read for 2 s: claims are not decided by old rules. */
  requireFresh(): void
}

/** Remembers which (consumer, class) pairs exist, so that a lookup by key alone can probe them all. */
export type PairRegistry = {
  /** True where the pair is known to be stored already: then nothing has to be awaited. */
  has(consumer: string, className: string): boolean
  /**
   * Stores the pairs; resolves once they are durable, before any of their claims is granted. Throws `PoliciesStale` where
   * policies change faster than they can be read.
   */
  add(pairs: readonly { consumer: string; class: string }[]): Promise<void>
}

/** What the verbs of the ledger need. Every verb takes arrays, so that a batch is one call and a single is an array of one. */
export type LedgerDeps = {
  /** The permanent ledger. */
  store: RecordStore
  windows: Windows
  policies: PolicyBook
  pairs: PairRegistry
  observer: LedgerObserver
  /** In [0, 1); spreads backoff and retry hints. */
  random: () => number
  /** A fresh UUID. */
  newToken: () => string
}

/** The policies were not re-read for too long; claims are answered 503 until they are. */
export class PoliciesStale extends Error {
  override readonly name = 'PoliciesStale'
  readonly code = 'policies_stale'
}

/** A record could not be changed within this many rounds of read, decide and compare-and-set. */
export const maxRounds = 12
