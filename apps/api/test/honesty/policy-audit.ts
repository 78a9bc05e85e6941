import type { AuditEntry } from '@ranbook/rules'

/** The audit line of a policy that a history puts. */
export function policyAudit(target: string): AuditEntry {
  return { actor: 'key:ops', action: 'class.put', target, reason: null, before: null, after: null, requestId: null }
}
