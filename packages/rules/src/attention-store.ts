import type { RecordState } from '@ranbook/contract'
import type { StoredPolicy } from './class-store.ts'
import type { StateCause } from './record.ts'
import type { Scope } from './scope.ts'

/** Kinds that are records of the ledger in a state, see `attentionKinds`. */
export type RecordAttention = 'held' | 'dead' | 'interrupted' | 'failed' | 'ready'

/** A record that a person should look at. Times in ms; `error`: JSON text, null also where it is long. */
export type AttentionRecord = {
  digest: string
  class: string
  consumer: string
  key: string
  state: RecordState
  cause: StateCause | null
  attempt: number
  error: string | null
  /** When it became what it is. */
  since: number
}

/** Completes of one record that came too late, since `firstAt`. */
export type AttentionLateCompletion = Pick<AttentionRecord, 'digest' | 'class' | 'consumer' | 'key' | 'state'> & {
  count: number
  firstAt: number
  lastAt: number
}

/** Deliveries of one record that came with another payload. `recordId`: its public id, of whichever store. */
export type MismatchCount = {
  recordId: string
  class: string
  consumer: string
  key: string
  count: number
  firstAt: number
  lastAt: number
}

/** A consumer that is new on a class known since `knownSince`. */
export type NewConsumer = { class: string; consumer: string; firstSeenAt: number; knownSince: number }

/** Something of a store that a person should mend. `since` in ms by the ledger's clock; `target` names what it is about. */
export type StoreWarning = { since: number; target: string; sentence: string }

/** How much is read of each kind. */
export type AttentionBounds = { shown: number; lookedAt: number }

/**
 * The newest `shown`, how many there are among the candidates looked at, and whether candidates beyond those exist.
 */
export type Found<Row> = { rows: Row[]; count: number; more: boolean }

/** What a person should look at, within a scope. Cold reads; every method throws `StoreError`. */
export type AttentionStore = {
  /** All as of one moment. */
  records(scope: Scope, bounds: AttentionBounds): Promise<Record<RecordAttention, Found<AttentionRecord>>>
  lateCompletions(scope: Scope, bounds: AttentionBounds): Promise<Found<AttentionLateCompletion>>
  mismatches(scope: Scope, bounds: AttentionBounds): Promise<Found<MismatchCount>>
  newConsumers(scope: Scope, bounds: AttentionBounds): Promise<Found<NewConsumer>>
  /** Seen by a consumer of the scope, without an own policy, looked at by nobody. */
  unreviewedClasses(scope: Scope, bounds: AttentionBounds): Promise<Found<{ class: string; firstSeenAt: number }>>
  /** Policies whose name the scope covers, the latest changed first. */
  policies(scope: Scope): Promise<StoredPolicy[]>
}

/** Where deliveries with another payload are counted. Throws as `StatsStore` does. */
export type MismatchStore = {
  /** Adds to what stands, all or nothing. No record twice. */
  add(counts: readonly MismatchCount[]): Promise<void>
  /** Forgets those of which the last lies `keptMs` back, the oldest first, at most `limit`; answers how many. */
  forget(keptMs: number, limit: number): Promise<number>
}
