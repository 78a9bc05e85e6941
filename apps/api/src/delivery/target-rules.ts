import { addressTest } from './address-range.ts'
import { innerAddress } from './inner-address.ts'
import { mayBeReached } from './may-be-reached.ts'
import type { TargetAllowlist } from './target-allowlist.ts'

/** Which hosts of this network and others may be sent to. */
export type TargetRules = {
  /**
   * Why nothing may be sent to a host that has these addresses, as a sentence; null where it may. All of them are
   * judged, and one that is refused refuses the host. Without addresses only the name is: null then means "perhaps".
   * `host` as a URL spells it, without brackets.
   */
  refusal(host: string, addresses: readonly string[]): string | null
}

/** The rules of an allow-list, or, where it is null, of none: then every host that can be reached at all may be. */
export function createTargetRules(allowlist: TargetAllowlist | null): TargetRules {
  const names = new Set(allowlist?.names)
  const inRanges = addressTest(allowlist?.ranges ?? [])

  const isListed = (host: string): boolean => {
    const name = host.replace(/\.$/, '')
    return names.has(name) || (allowlist?.suffixes ?? []).some((suffix) => name.endsWith(suffix))
  }

  return {
    refusal(host, addresses) {
      const judged = addresses.map((address) => ({ address, inner: innerAddress(address) }))
      const never = judged.find(({ inner }) => inner === null || !mayBeReached(inner))
      if (never !== undefined) {
        return `${leadsTo(host, never.address)} link-local, a cloud's own, multicast or reserved, and nothing is ever sent there.`
      }
      if (allowlist === null || isListed(host)) return null
      if (allowlist.ranges.length === 0) return `${host} is not in RANBOOK_TARGET_ALLOWLIST.`
      const outside = judged.find(({ inner }) => inner === null || !inRanges(inner))
      return outside === undefined ? null : `${leadsTo(host, outside.address)} not in RANBOOK_TARGET_ALLOWLIST.`
    },
  }
}

function leadsTo(host: string, address: string): string {
  return host === address ? `${host} is` : `${host} leads to ${address}, which is`
}
