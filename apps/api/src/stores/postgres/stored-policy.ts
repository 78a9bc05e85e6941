import { type Policy, policySchema } from '@ranbook/contract'
import { findPolicyFault, type StoredPolicy } from '@ranbook/rules'

/** A policy as its statements answer it. */
export type PolicyRow = { name: string; version: number; policy: string; updated_at: number; updated_by: string }

/** The policy of a row. */
export function storedPolicy(row: PolicyRow): StoredPolicy {
  return {
    name: row.name,
    version: row.version,
    policy: readablePolicy(row.policy),
    updatedAt: row.updated_at,
    updatedBy: row.updated_by,
  }
}

/** Null for what a newer version stored and this one would serve wrongly. */
function readablePolicy(text: string): Policy | null {
  const parsed = policySchema.safeParse(JSON.parse(text))
  return parsed.success && findPolicyFault(parsed.data) === null ? parsed.data : null
}
