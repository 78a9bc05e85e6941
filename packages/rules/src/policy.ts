import { type Policy, policySchema } from '@ranbook/contract'
import { needsHorizon, shortRetention } from './horizon.ts'
import { findPreset, presets } from './presets.ts'

/** The policy of a class nobody wrote one for: permanent ledger, 60 s lease, retry, 10 attempts. */
export const defaultPolicy: Policy = policySchema.parse({})

/** Does a policy's name (exact, `prefix*`, or `*`) cover a class? `refund.*` covers longer names only. */
export function policyCovers(name: string, className: string): boolean {
  if (!name.endsWith('*')) return name === className
  const prefix = name.slice(0, -1)
  return className.startsWith(prefix) && (prefix === '' || className.length > prefix.length)
}

/** Is it a name a policy or a scope can have: no `*`, or exactly one at the end? */
export function isPolicyName(name: string): boolean {
  const star = name.indexOf('*')
  return star === -1 || star === name.length - 1
}

/**
 * The name that governs a class: the exact one, else the pattern with the longest prefix, else null (the default
 * policy). `has` says whether a policy of that name exists; it is asked at most once per character.
 */
export function matchPolicyName(className: string, has: (name: string) => boolean): string | null {
  if (has(className)) return className
  for (let length = className.length - 1; length >= 0; length--) {
    const pattern = `${className.slice(0, length)}*`
    if (has(pattern)) return pattern
  }
  return null
}

/**
 * One reason to refuse a policy: `not_available` (not built yet), `invalid_policy` (fields that exclude each other), or a
 * retention that its source outlasts.
 */
export type PolicyFault = {
  code: 'not_available' | 'invalid_policy' | 'retention_below_horizon' | 'horizon_required'
  detail: string
}

/** Why a well-formed policy can't be taken, or null. */
export function findPolicyFault(policy: Policy): PolicyFault | null {
  if (policy.store === 'window') {
    for (const [field, clashes] of [
      ['on_lease_expiry: hold', policy.on_lease_expiry === 'hold'],
      ['ordering', policy.ordering !== 'off'],
      ['replay_target', policy.replay_target !== null],
      ['effects_cost_money', policy.effects_cost_money],
    ] as const) {
      if (clashes) {
        return {
          code: 'invalid_policy',
          detail: `store: window excludes ${field}. Use store: ledger, or leave ${field} out.`,
        }
      }
    }
  }
  if (policy.backoff.max_ms < policy.backoff.initial_ms) {
    return {
      code: 'invalid_policy',
      detail: 'backoff.max_ms is below backoff.initial_ms. Raise max_ms or lower initial_ms.',
    }
  }
  if (policy.source_preset !== null && findPreset(policy.source_preset) === null) {
    const names = presets.map(({ name }) => name).join(', ')
    return {
      code: 'invalid_policy',
      detail: `source_preset: ${policy.source_preset} is not known. Take one of ${names}.`,
    }
  }
  const unbuilt = findUnbuiltValue(policy)
  return unbuilt === null
    ? null
    : { code: 'not_available', detail: `${unbuilt} is not available in this version. Leave it at its default.` }
}

/**
 * Why a policy's retention can't be taken, or null: it forgets a key while the source may still redeliver it, unless that
 * is accepted on purpose, or nobody knows for how long the source may.
 */
export function findRetentionFault(policy: Policy, acceptShort: boolean): PolicyFault | null {
  if (needsHorizon(policy)) {
    return {
      code: 'horizon_required',
      detail: `How long ${policy.source_preset} redelivers is for its operator to say. Give it as source_horizon_ms, or keep keys for ever.`,
    }
  }
  const short = shortRetention(policy)
  if (short?.kind !== 'automatic' || acceptShort) return null
  return {
    code: 'retention_below_horizon',
    detail: `${short.sentence} Raise it, or send accept_short_retention: true.`,
  }
}

/** The first value whose part of the protocol this version does not serve. */
function findUnbuiltValue(policy: Policy): string | null {
  if (policy.ordering !== 'off') return `ordering: ${policy.ordering}`
  if (policy.gap_timeout_ms !== defaultPolicy.gap_timeout_ms) return 'gap_timeout_ms'
  return null
}

/**
 * Milliseconds until a failed attempt may be retried: full jitter over `initial * factor^(attempt - 1)`, capped.
 * `jitter` lies in [0, 1).
 */
export function backoffMs(policy: Policy, attempt: number, jitter: number): number {
  const { initial_ms, factor, max_ms } = policy.backoff
  // The power overflows to Infinity after some hundred attempts, and 0 * Infinity is not a number.
  const ceilingMs = initial_ms === 0 ? 0 : Math.floor(Math.min(max_ms, initial_ms * factor ** (attempt - 1)))
  return Math.floor(jitter * (ceilingMs + 1))
}

/** Are the attempts of a generation used up? `max_attempts: null` means never. */
export function attemptsUsedUp(policy: Policy, attempt: number): boolean {
  return policy.max_attempts !== null && attempt >= policy.max_attempts
}
