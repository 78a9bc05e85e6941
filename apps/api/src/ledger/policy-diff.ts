import type { Policy } from '@ranbook/contract'

/** What a change of a policy alters: field → [before, after], only those that differ. */
export function policyDiff(before: Policy, after: Policy): Record<string, [unknown, unknown]> {
  const fields = Object.keys(after) as (keyof Policy)[]
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  return Object.fromEntries(changed.map((field) => [field, [before[field], after[field]]]))
}
