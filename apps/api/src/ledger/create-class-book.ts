import type { Policy } from '@ranbook/contract'
import {
  type AuditEntry,
  type ClassStore,
  findPolicyFault,
  findRetentionFault,
  type PolicyFault,
  type SeenClass,
  shownPolicy,
} from '@ranbook/rules'
import type { ClassBook, ClassView, Editor } from './class-book.ts'
import { createFreshCopy } from './fresh-copy.ts'
import { PoliciesStale } from './ledger-deps.ts'
import { createPoliciesInForce } from './policies-in-force.ts'
import { policyDiff } from './policy-diff.ts'

export type ClassBookDeps = {
  store: ClassStore
  /** A clock that nobody can set, in ms from anywhere. */
  monotonicMs: () => number
}

/** Every process knows a change within a second; one that could not look for twice that long does not guess. */
const staleAfterMs = 2000

/** Policies from a copy in memory. `refresh` re-reads what was changed elsewhere; call it each second. */
export async function createClassBook({
  store,
  monotonicMs,
}: ClassBookDeps): Promise<ClassBook & { refresh(): Promise<void> }> {
  let clock = { storeMs: 0, readAtMs: 0 }
  const carryOn = (storeMs: number): void => {
    clock = { storeMs, readAtMs: monotonicMs() }
  }
  const copy = await createFreshCopy({
    revision: async () => {
      const { revision, now } = await store.revision()
      carryOn(now)
      return revision
    },
    read: async () => {
      const { revision, policyRevision, policies, places, now } = await store.readPolicies()
      carryOn(now)
      return {
        revision,
        value: { ...createPoliciesInForce(policies), names: policies.map(({ name }) => name), policyRevision, places },
      }
    },
    monotonicMs,
  })
  let beganAt: number | null = null

  const view = (seen: SeenClass): ClassView => {
    const { name, own, reviewed, consumers, firstSeenAt } = seen
    const inForce = own?.policy ?? copy.current().policyFor(name)
    const ownLine = own === null ? null : { version: own.version, updatedAt: own.updatedAt, updatedBy: own.updatedBy }
    const matched = own === null ? copy.current().nameFor(name) : name
    return { name, matched, reviewed, own: ownLine, inForce, consumers, firstSeenAt }
  }

  return {
    policyFor: (className) => copy.current().policyFor(className),
    policyRevision: () => copy.current().policyRevision,
    policyNames: () => copy.current().names,
    placesKnown: () => copy.current().places,
    storeNow: () => clock.storeMs + (monotonicMs() - clock.readAtMs),

    requireFresh() {
      if (copy.ageMs() > staleAfterMs) {
        throw new PoliciesStale(`the policies were last known ${Math.round(copy.ageMs())} ms ago`)
      }
    },

    async list(scope, after, limit) {
      const seen = await store.listClasses(scope, after, limit)
      return seen.map(view)
    },

    get: async (scope, name) => view(await store.readClass(scope, name)),

    async put(name, policy, { expectedVersion, acceptShort }, editor) {
      const fault = findPolicyFault(policy) ?? findRetentionFault(policy, acceptShort)
      if (fault !== null) return { kind: 'refused', fault }
      let standingVersion: number | null = null
      let secretMissing = false
      const stored = await store.changePolicy(name, (standing) => {
        standingVersion = standing?.version ?? null
        if (expectedVersion !== null && expectedVersion !== standingVersion) return null
        const whole = withKeptSecret(policy, standing?.policy ?? null)
        secretMissing = whole === null
        if (whole === null) return null
        const before = standing?.policy ?? copy.current().policyFor(name)
        const audit = policyAudit('class.put', name, editor, standing?.policy ?? null, whole)
        return { policy: whole, diff: policyDiff(before, whole), audit }
      })
      if (secretMissing) return { kind: 'refused', fault: noSecret }
      if (stored?.policy == null) return { kind: 'stale', version: standingVersion }
      await copy.refresh()
      const { version, updatedAt, updatedBy } = stored
      const own = { version, updatedAt, updatedBy }
      return { kind: 'stored', created: standingVersion === null, own, policy: stored.policy }
    },

    async remove(name, expectedVersion, editor) {
      let standingVersion: number | null = null
      const removed = await store.changePolicy(name, (standing) => {
        standingVersion = standing?.version ?? null
        if (standing === null || (expectedVersion !== null && expectedVersion !== standing.version)) return null
        const after = copy.current().policyWithout(name)
        const audit = policyAudit('class.delete', name, editor, standing.policy, null)
        return { policy: null, diff: standing.policy === null ? {} : policyDiff(standing.policy, after), audit }
      })
      if (removed === null) {
        return standingVersion === null ? { kind: 'absent' } : { kind: 'stale', version: standingVersion }
      }
      await copy.refresh()
      return { kind: 'removed' }
    },

    history: store.readHistory,

    async review(name, editor) {
      const everything = { classes: ['*'], consumer: null }
      const seen = await store.readClass(everything, name)
      if (seen.own === null && seen.firstSeenAt === null) return null
      await store.markReviewed(name, policyAudit('class.review', name, editor, null, null))
      return view({ ...seen, reviewed: true })
    },

    pairsSeen: store.findPairs,

    readKept: store.readKept,

    async ledgerBeganAt() {
      beganAt ??= await store.ledgerBeganAt()
      return beganAt
    },

    refresh: copy.refresh,
  }
}

/** A target that names no secret keeps that of the same url; null where there is none to keep. */
function withKeptSecret(policy: Policy, standing: Policy | null): Policy | null {
  const { replay_target: target } = policy
  if (target === null || target.secret !== undefined) return policy
  const kept = standing?.replay_target
  if (kept?.url !== target.url || kept.secret === undefined) return null
  return { ...policy, replay_target: { url: target.url, secret: kept.secret } }
}

const noSecret: PolicyFault = {
  code: 'invalid_policy',
  detail: 'replay_target has no secret, and none stands for this url. Give a secret to sign what is sent there.',
}

function policyAudit(
  action: string,
  target: string,
  { actor, reason, requestId }: Editor,
  before: Policy | null,
  after: Policy | null,
): AuditEntry {
  const text = (policy: Policy | null): string | null => (policy === null ? null : JSON.stringify(shownPolicy(policy)))
  return { actor, action, target, reason, before: text(before), after: text(after), requestId }
}
