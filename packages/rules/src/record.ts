import type { LeaseExpiryRule, RecordState } from '@ranbook/contract'

/**
 * Why a record stands in its state, finer than the wire's `reason`:
 * dead: `attempts_failed` and `not_retryable` (its owner said fail), `attempts_lost` (the last lease ran out, nobody
 * said anything: the owner is still believed), `operator`; ready: `released`, `retry` (an operator sent it back), `replay`
 * (a replay armed its next generation); completed and skipped: `operator`, else null.
 */
export type StateCause =
  | 'attempts_failed'
  | 'attempts_lost'
  | 'not_retryable'
  | 'operator'
  | 'released'
  | 'retry'
  | 'replay'

/**
 * The replay that opened the record's generation or, where it is `armed`, will open the next one. `keyGeneration`: the
 * generation that the idempotency key of that one is made from.
 */
export type ReplayFacts = { id: string; reason: string; keyGeneration: number; armed: Armed | null }

/** How the generation stands that an armed replay will displace, so that nothing of it is lost and all can be put back. */
export type Armed = {
  state: 'completed' | 'failed' | 'dead' | 'held' | 'skipped'
} & Pick<LedgerRecord, 'cause' | 'leaseExpiresAt' | 'endedAt' | 'availableAt'> & { replay: ReplayFacts | null }

/**
 * A fingerprint and how it was made: two are compared only when they were made alike. `rule` tells the policies' rules
 * apart (see `fingerprintRuleTag`); absent for the whole payload and for a given one.
 */
export type Fingerprint = { kind: 'given' | 'computed'; value: string; rule?: string }

/** What keeps a record: the permanent ledger, or a window in Redis or in a table of Postgres. */
export type Place = 'ledger' | 'redis' | 'postgres'
export type WindowPlace = Exclude<Place, 'ledger'>

/**
 * A record of a window: where it stands, how long it is remembered once its attempt ended (fixed at the grant), and
 * whether it was granted while Redis could not be asked.
 */
export type WindowFacts = { place: WindowPlace; ms: number; degraded: boolean }

/**
 * The ledger's row for one `(consumer, class, key)`, without what only people read (see `Details`).
 * Times are whole milliseconds since 1970 by the store's clock. JSON is text, never a parsed value.
 */
export type LedgerRecord = {
  /** 32 hex digits, see `recordDigest`. */
  digest: string
  /** +1 with every change; a compare-and-set names the one it read. */
  version: number
  class: string
  consumer: string
  key: string
  state: RecordState
  cause: StateCause | null
  /** 1, then +1 per replay. */
  generation: number
  /** Number of the attempt last granted in this generation. */
  attempt: number
  /** Token of the attempt last granted; it stays when the attempt ends. */
  claimToken: string
  /** Below 2^53; strictly above that of every earlier grant of the key. */
  fencingToken: number
  owner: string | null
  /** Fixed at the grant. */
  leaseMs: number
  /** Fixed at the grant. */
  onLeaseExpiry: LeaseExpiryRule
  /** Null once the attempt ended. */
  leaseExpiresAt: number | null
  /** When the sweeper shall look: the end of the lease, null once it was noticed or the attempt ended. */
  sweepAt: number | null
  firstClaimedAt: number
  /** When the last attempt was granted. */
  claimedAt: number
  /** When the last attempt ended (completed, failed, released, given up, decided); null while it runs. */
  endedAt: number | null
  /** Failed: not granted before. */
  availableAt: number | null
  fingerprint: Fingerprint | null
  /** JSON text; null when there is none (the text `null` is a result). */
  result: string | null
  /** JSON text of `{message, code?, detail?}` of the last attempt. */
  error: string | null
  /** When payload, result, error and owner were erased, as the policy says; null before. */
  detailsErasedAt: number | null
  /** Null: it stands in the ledger. */
  window: WindowFacts | null
  /** Null in the first generation, until a replay arms the second. */
  replay: ReplayFacts | null
}

/** The record as it stood before a replay armed it; itself where none did. */
export function beforeArming(record: LedgerRecord): LedgerRecord {
  const armed = record.replay?.armed ?? null
  return armed === null ? record : { ...record, ...armed }
}

/** When a window forgets it, in ms: its time after the attempt ended or the lease is over. Null: never, by itself. */
export function forgottenAt({ window, endedAt, leaseExpiresAt, claimedAt }: LedgerRecord): number | null {
  return window === null ? null : (leaseExpiresAt ?? endedAt ?? claimedAt) + window.ms
}

/** What the first delivery that gave it fixed for ever: a later grant only fills what is still null. */
export type Details = {
  /** JSON text. */
  payload: string | null
  refs: readonly string[] | null
  source: string | null
  /** Decimal digits of a non-negative 64-bit integer. */
  seq: string | null
  occurredAt: number | null
}

/** Of a record whose store keeps none. */
export const noDetails: Details = { payload: null, refs: null, source: null, seq: null, occurredAt: null }

/** How an attempt that is no longer the record's current one ended. `expired`: its lease ran out and nothing was heard. */
export type AttemptEnd = 'completed' | 'failed' | 'expired' | 'released' | 'decided'

/** An attempt displaced by a later grant, kept so that its token stays spent and its history readable. */
export type ArchivedAttempt = {
  digest: string
  fencingToken: number
  generation: number
  attempt: number
  claimToken: string
  owner: string | null
  claimedAt: number
  leaseExpiresAt: number | null
  endedAt: number | null
  end: AttemptEnd
  error: string | null
  result: string | null
}

/** True while the store's clock has not passed the end of the lease. Strict by 1 ms, as times are cut to milliseconds. */
export function isLeaseLive(record: LedgerRecord, now: number): boolean {
  return record.state === 'claimed' && record.leaseExpiresAt !== null && now <= record.leaseExpiresAt
}

/** The state as every answer shows it: a `hold` claim whose lease is over is held, whether or not it was written. */
export function visibleState(record: LedgerRecord, now: number): RecordState {
  const overdue = record.state === 'claimed' && record.onLeaseExpiry === 'hold' && !isLeaseLive(record, now)
  return overdue ? 'held' : record.state
}
