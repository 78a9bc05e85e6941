import type { Policy } from '@ranbook/contract'
import { shownPolicy } from '@ranbook/rules'

/**
 * What a change of a policy alters: field → [before, after], only those that differ. A changed secret names its field and
 * is not shown.
 */
export function policyDiff(before: Policy, after: Policy): Record<string, [unknown, unknown]> {
  const fields = Object.keys(after) as (keyof Policy)[]
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  const [shownBefore, shownAfter] = [shownPolicy(before), shownPolicy(after)]
  return Object.fromEntries(changed.map((field) => [field, [shownBefore[field], shownAfter[field]]]))
}
