import type { Policy } from '@ranbook/contract'
import type { AuditEntry } from './audit-entry.ts'
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
  /** +1 with every change of a policy, never seen before the change itself: equal numbers, equal policies. */
  revision(): Promise<number>
  readPolicies(): Promise<{ revision: number; policies: StoredPolicy[] }>
  /**
   * Shows `decide` the policy that stands (null: none) and writes what it returns, with history and audit, in one
   * transaction that no other change runs beside. The version goes on counting over deletions. Null: nothing to write.
   */
  changePolicy(name: string, decide: (standing: StoredPolicy | null) => PolicyEdit | null): Promise<StoredPolicy | null>
  /** Newest first, versions below `before`. */
  readHistory(name: string, before: number | null, limit: number): Promise<PolicyChange[]>
  /** By name, above `after`. */
  listClasses(scope: Scope, after: string | null, limit: number): Promise<SeenClass[]>
  readClass(scope: Scope, name: string): Promise<SeenClass>
  /** Marks a class as looked at, with the audit line in the same transaction. A second time changes nothing. */
  markReviewed(name: string, audit: AuditEntry): Promise<void>
  /** Resolves once all are durable. Those known already keep their time. */
  addPairs(pairs: readonly { consumer: string; class: string }[]): Promise<void>
  /** All given filters hold; by class and consumer. */
  findPairs(scope: Scope, only: { class: string | null; consumer: string | null }, limit: number): Promise<SeenPair[]>
  /** When this database was initialised: since then every claim of a ledger class is in it. */
  ledgerBeganAt(): Promise<number>
}
