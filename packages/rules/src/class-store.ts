import type { Policy } from '@ranbook/contract'
import type { AuditEntry } from './audit-entry.ts'
import type { KeptFacts } from './coverage.ts'
import type { PlacesKnown } from './placement.ts'
import type { WindowPlace } from './record.ts'
import type { Scope } from './scope.ts'

/** A policy under its name. `policy` null: stored by a version that knows values this one does not serve. */
export type StoredPolicy = {
  name: string
  version: number
  policy: Policy | null
  updatedAt: number
  updatedBy: string
}

/**
 * One change of a policy; `policy` is the document as it was stored, null where it was deleted. `diff`: field →
 * [before, after], only those that changed.
 */
export type PolicyChange = {
  version: number
  policy: Record<string, unknown> | null
  diff: Record<string, [unknown, unknown]>
  at: number
  by: string
  reason: string | null
}

/** What a change writes beside the policy: its line in the history and in the audit. `policy` null deletes. */
export type PolicyEdit = { policy: Policy | null; diff: PolicyChange['diff']; audit: AuditEntry }

/** A (consumer, class) pair that ever claimed. */
export type SeenPair = { consumer: string; class: string; firstSeenAt: number }

/** A class by name: seen in claims, or named by a policy. `consumers`: the first 100 by name, of those in scope. */
export type SeenClass = {
  name: string
  own: StoredPolicy | null
  reviewed: boolean
  consumers: string[]
  firstSeenAt: number | null
}

/** Where policies stand, and which classes and consumers were seen. Times in ms. Throws `StoreError`. */
export type ClassStore = {
  /**
   * Grows with every change of policies or places, never seen before the change itself: equal numbers, equal answers of
   * `readPolicies`. `now` is the store's clock.
   */
  revision(): Promise<{ revision: number; now: number }>
  /** `policyRevision` grows with policies alone. */
  readPolicies(): Promise<{
    revision: number
    policyRevision: number
    policies: StoredPolicy[]
    places: PlacesKnown
    now: number
  }>
  /**
   * Shows `decide` the policy that stands (null: none) and writes what it returns, with history and audit, in one
   * transaction that no other change runs beside. The version goes on counting over deletions. Null: nothing to write.
   * Classes that were seen and change their store or window by it get a `ClassEra` in the same transaction.
   */
  changePolicy(name: string, decide: (standing: StoredPolicy | null) => PolicyEdit | null): Promise<StoredPolicy | null>
  /** Newest first, versions below `before`. */
  readHistory(name: string, before: number | null, limit: number): Promise<PolicyChange[]>
  /** By name, above `after`. */
  listClasses(scope: Scope, after: string | null, limit: number): Promise<SeenClass[]>
  readClass(scope: Scope, name: string): Promise<SeenClass>
  /** Marks a class as looked at, with the audit line in the same transaction. A second time changes nothing. */
  markReviewed(name: string, audit: AuditEntry): Promise<void>
  /**
   * Resolves once all are durable. Those known already keep their time. False where policies are no longer those of
   * `policyRevision`: nothing is added, so that no class is seen first by policies that do not stand any more.
   */
  addPairs(pairs: readonly { consumer: string; class: string }[], policyRevision: number): Promise<boolean>
  /** Raises bounds; lower ones change nothing. `raiseFencing`: the sequence is raised above the clock in µs, too. */
  raisePlaces(
    bounds: readonly { class: string; place: WindowPlace; until: number }[],
    raiseFencing: boolean,
  ): Promise<void>
  /** An outage of a class: begins a span, or moves the end of the one that lasts on to `forMs` from now. */
  prolongOutage(className: string, forMs: number): Promise<void>
  /** All given filters hold; by class and consumer. */
  findPairs(scope: Scope, only: { class: string | null; consumer: string | null }, limit: number): Promise<SeenPair[]>
  /** How these classes were and are kept, with every loss that may concern one of them, in one snapshot. */
  readKept(classNames: readonly string[]): Promise<KeptFacts>
  /** When this database was initialised: since then every claim of a ledger class is in it. */
  ledgerBeganAt(): Promise<number>
}
