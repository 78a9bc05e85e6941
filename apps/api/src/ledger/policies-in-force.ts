import type { Policy } from '@ranbook/contract'
import { defaultPolicy, matchPolicyName, type StoredPolicy } from '@ranbook/rules'
import { PoliciesStale } from './ledger-deps.ts'

/** Which policy governs which class, by one reading of the policies. */
export type PoliciesInForce = {
  /**
   * The policy that governs a class. Throws `PoliciesStale` where a newer version stored it with values that this one
   * does not serve: until it is upgraded, this process leaves such classes alone.
   */
  policyFor(className: string): Policy
  /** The same, were there no policy of exactly that name. */
  policyWithout(name: string): Policy
  /** The name of the policy that governs a class, null for the built-in default. */
  nameFor(className: string): string | null
}

/** Each entry holds a class's name and a reference: some 2 MB. More classes than that within a second are unusual. */
const maxCached = 10_000

/** `policies` are all there are. */
export function createPoliciesInForce(policies: readonly StoredPolicy[]): PoliciesInForce {
  const byName = new Map(policies.map((stored) => [stored.name, stored]))
  const governing = new Map<string, StoredPolicy | null>()

  const find = (className: string, has: (name: string) => boolean): StoredPolicy | null => {
    const name = matchPolicyName(className, has)
    return name === null ? null : (byName.get(name) ?? null)
  }

  const govern = (className: string): StoredPolicy | null => {
    const cached = governing.get(className)
    if (cached !== undefined) return cached
    const found = find(className, (name) => byName.has(name))
    if (governing.size >= maxCached) governing.clear()
    governing.set(className, found)
    return found
  }

  return {
    policyFor: (className) => readable(govern(className)),
    policyWithout: (own) => readable(find(own, (name) => name !== own && byName.has(name))),
    nameFor: (className) => govern(className)?.name ?? null,
  }
}

function readable(stored: StoredPolicy | null): Policy {
  if (stored === null) return defaultPolicy
  if (stored.policy === null) throw new PoliciesStale(`the policy ${stored.name} holds values of a newer version`)
  return stored.policy
}
