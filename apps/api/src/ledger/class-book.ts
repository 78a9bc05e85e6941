import type { Policy } from '@ranbook/contract'
import type { KeptFacts, PlacesKnown, PolicyChange, PolicyFault, Scope, SeenPair } from '@ranbook/rules'
import type { PolicyBook } from './ledger-deps.ts'

/** When and by whom a class's own policy was written last; `version` is its `ETag`. */
export type OwnPolicy = { version: number; updatedAt: number; updatedBy: string }

/** A class seen in claims or named by a policy. */
export type ClassView = {
  name: string
  /** Name of the policy in force, null for the built-in default. */
  matched: string | null
  /** Has an own policy or was marked as looked at. */
  reviewed: boolean
  /** Null without an own policy. */
  own: OwnPolicy | null
  inForce: Policy
  /** The first 100 by name, of those in the caller's scope. */
  consumers: string[]
  firstSeenAt: number | null
}

export type Editor = { actor: string; reason: string | null; requestId: string | null }

/** `refused`: the policy can't be taken. `stale`: `expectedVersion` is not the version that stands (null: none). */
type PutOutcome =
  | { kind: 'stored'; created: boolean; own: OwnPolicy; policy: Policy }
  | { kind: 'stale'; version: number | null }
  | { kind: 'refused'; fault: PolicyFault }

/**
 * Policies: what is in force (synchronous, re-read each second), and the cold calls around it. Every change is kept
 * with who, why and a diff, and audited in the same transaction; it is in force here at once. A version grows by one
 * with every change of a name, across deletion and re-creation. `expectedVersion` null: whatever stands.
 */
export type ClassBook = PolicyBook & {
  /** The revision of the policies in force here. */
  policyRevision(): number
  /** Names under which a policy stands, as last read. */
  policyNames(): readonly string[]
  /** Where classes are kept, as last read. */
  placesKnown(): PlacesKnown
  /** The store's clock in ms, carried on from the last reading: some ms behind it at most. */
  storeNow(): number
  /** By name, above `after`. */
  list(scope: Scope, after: string | null, limit: number): Promise<ClassView[]>
  get(scope: Scope, name: string): Promise<ClassView>
  put(
    name: string,
    policy: Policy,
    options: { expectedVersion: number | null; acceptShort: boolean },
    editor: Editor,
  ): Promise<PutOutcome>
  remove(
    name: string,
    expectedVersion: number | null,
    editor: Editor,
  ): Promise<{ kind: 'removed' } | { kind: 'absent' } | { kind: 'stale'; version: number }>
  /** Newest first, versions below `before`. */
  history(name: string, before: number | null, limit: number): Promise<PolicyChange[]>
  /** Marks a class as looked at. Null for a name that was never seen and has no policy. */
  review(name: string, editor: Editor): Promise<ClassView | null>
  /** (consumer, class) pairs that ever claimed, at most `limit`. All given filters hold. */
  pairsSeen(scope: Scope, only: { class: string | null; consumer: string | null }, limit: number): Promise<SeenPair[]>
  /** How these classes were and are kept, read anew in one snapshot. */
  readKept(classNames: readonly string[]): Promise<KeptFacts>
  /** Since when every claim of a ledger class is in the ledger, in ms. */
  ledgerBeganAt(): Promise<number>
}
