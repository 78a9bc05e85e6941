import type { LeftOutReason, ReplayOutcome, ReplayState } from '@ranbook/contract'
import type { AuditEntry } from './audit-entry.ts'
import type { LedgerRecord } from './record.ts'
import type { RecordFilter } from './record-store.ts'
import type { Scope } from './scope.ts'

/** What a filter of a replay names: all that hold. Times in ms. */
export type ReplayFilter = Pick<
  RecordFilter,
  'class' | 'consumer' | 'state' | 'keyPrefix' | 'ref' | 'source' | 'from' | 'to'
>

/** Which records a replay is about: ids as they were given, each once, or a filter. */
export type ReplaySelection = { recordIds: readonly string[] } | { filter: ReplayFilter }

/** A replay as it was asked for. */
export type NewReplay = {
  /** A UUID. */
  id: string
  selection: ReplaySelection
  /** What its author may touch: a record outside looks as if it were forgotten. */
  scope: Scope
  reason: string
  delivery: 'rearm' | 'push'
  idempotency: 'same' | 'new'
  createdBy: string
  /** Else it runs at once. */
  needsApproval: boolean
  /** As counted when it was asked for; `more`: there were more. */
  count: number
  more: boolean
  mayRunAgain: number
}

/** A replay as it stands. Times in ms. */
export type StoredReplay = NewReplay & {
  state: ReplayState
  createdAt: number
  approvedBy: string | null
  /** Records met so far, by what became of them; those put back were armed. */
  armed: number
  leftOut: number
  putBack: number
  /** Of those armed: posted, and given up. */
  pushed: number
  pushFailed: number
  endedAt: number | null
  error: string | null
}

/** What became of the record that the replay met in this place, 1 being the first. */
export type ReplayItem = { place: number; recordId: string; outcome: ReplayOutcome; at: number }

/** A record that is a replay's next, as it stands under lock; null where none stands in the ledger. */
export type ReplayTarget = { recordId: string; standing: { record: LedgerRecord; hasPayload: boolean } | null }

/** What to write over a record of a step, or why it is left as it is. */
export type ReplayWrite = { record: LedgerRecord } | { leftOut: LeftOutReason }

/** What a step does by the rules. `now` is the store's clock in ms as read with the records. */
export type ReplayRules = {
  /** In order; null where the replay has to be approved before it goes on. */
  arm(replay: StoredReplay, targets: readonly ReplayTarget[], now: number): ReplayWrite[] | null
  /** The record with its arming taken back; null where it is not armed by this replay any more. */
  putBack(replay: StoredReplay, record: LedgerRecord): LedgerRecord | null
}

/** Replays and what became of their records. Throws `StoreError`. */
export type ReplayStore = {
  /** With its audit line in one transaction. Null where a replay of this id stands. */
  create(replay: NewReplay, audit: AuditEntry): Promise<StoredReplay | null>
  read(id: string): Promise<StoredReplay | null>
  /** Newest first, those before (createdAt, id). */
  list(
    state: ReplayState | null,
    before: { createdAt: number; id: string } | null,
    limit: number,
  ): Promise<StoredReplay[]>
  /** Its records after a place, in the order in which they were met. */
  items(id: string, after: number, limit: number): Promise<ReplayItem[]>
  /** What replays made of one record, the newest `limit`, oldest first. */
  ofRecord(recordId: string, limit: number): Promise<{ replay: StoredReplay; item: ReplayItem }[]>
  /**
   * Writes what `decide` makes of how it stands, with the audit line in one transaction. `decide` answers null to leave
   * it. Null where no replay of this id stands.
   */
  change(
    id: string,
    decide: (standing: StoredReplay) => { state: ReplayState; approvedBy: string | null; audit: AuditEntry } | null,
  ): Promise<StoredReplay | null>
  /**
   * Takes the next records, at most `limit`, of the replay that had its turn longest ago and runs or is being cancelled,
   * oldest record first, and writes what the rules say, their outcomes and the replay's progress in one transaction:
   * each record once, whoever steps and whenever one is killed. Several processes step several replays. Its id; null
   * where no replay has anything to do, or others are at those that have.
   */
  step(limit: number, rules: ReplayRules): Promise<string | null>
}

/** A push that is due, taken by whoever got it for a while. */
export type DuePush = {
  replayId: string
  place: number
  recordId: string
  /** Of the replay. */
  reason: string
  /** This one included. */
  tries: number
  /** Since the first try, in ms. */
  elapsedMs: number
}

/** How a try ended. `not_needed`: another delivery of the key took the record up. */
export type PushEnd =
  | { kind: 'delivered' | 'not_needed' }
  | { kind: 'failed'; error: string }
  | { kind: 'again'; inMs: number; error: string }

/** What replays have to post. Throws `StoreError`. */
export type PushStore = {
  /**
   * At most `limit` pushes that are due, of replays that run. Nobody else gets them for `takenMs`; after that they are due
   * again, as who took them may have been killed: a push is tried at least once.
   */
  takeDue(limit: number, takenMs: number): Promise<DuePush[]>
  /** Notes how they ended with their replays' progress, in one transaction; nothing of what was cancelled meanwhile. */
  end(ended: readonly { push: DuePush; end: PushEnd }[]): Promise<void>
}
