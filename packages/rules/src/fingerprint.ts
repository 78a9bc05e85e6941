import { hash } from 'node:crypto'
import type { FingerprintRule } from '@ranbook/contract'
import { canonicalJson } from './canonical-json.ts'
import { removePointers, selectPointers } from './json-pointer.ts'
import type { Fingerprint } from './record.ts'

/**
 * The fingerprint of a payload: `sha256:` and 64 lower-case hex digits of SHA-256 over the UTF-8 of canonical JSON, or
 * null when the rule leaves nothing to compare. Two payloads have the same one when what the rule looks at means the
 * same (see `canonicalJson`).
 *
 * - `payload`: the whole payload.
 * - `off`: null.
 * - `exclude`: the payload without what its JSON Pointers name, so that an excluded member that is absent and one that
 *   is present are the same. An excluded array element is left out and the others close up; pointers count from the
 *   payload as it came. A pointer that names nothing changes nothing. `""` excludes everything: null, as with `off`.
 * - `include`: an object with one member for each pointer that names something; the member's name is the pointer, its
 *   value what the pointer names. So an included member that is absent differs from one that is null, and what surrounds
 *   an included value does not count. Payloads that have none of them share the fingerprint of `{}`; `""` includes the
 *   whole payload.
 *
 * Where the payload repeats a name, a pointer through that name means each of the members.
 *
 * `payloadText` must be JSON as `readJson` lets through; throws as `canonicalJson` does.
 */
export function computeFingerprint(payloadText: string, rule: FingerprintRule): Fingerprint | null {
  const compared = comparedText(payloadText, rule)
  if (compared === null) return null
  const value = `sha256:${hash('sha256', canonicalJson(compared), 'hex')}`
  return typeof rule === 'string'
    ? { kind: 'computed', value }
    : { kind: 'computed', value, rule: fingerprintRuleTag(rule) }
}

/**
 * 8 hex digits that tell rules apart which look at parts of a payload. The order of the pointers does not count. Two
 * rules with one tag (1 in 4 billion) would only be compared as if they were one.
 */
export function fingerprintRuleTag(rule: Exclude<FingerprintRule, string>): string {
  const [side, pointers] = 'exclude' in rule ? ['exclude', rule.exclude] : ['include', rule.include]
  return hash('sha256', JSON.stringify([side, [...pointers].sort()]), 'hex').slice(0, 8)
}

const shortForm = /^sha256:[0-9a-f]{16}$/

/**
 * A fingerprint as windows keep it: the first 8 bytes of its digest, with the kind and the rule. `value` becomes
 * `sha256:` and 16 hex digits, also where it was given; what has that form already stays. Two payloads look the same by
 * it though they differ once in 2^64; a window forgets more than that.
 */
export function shortFingerprint(fingerprint: Fingerprint | null): Fingerprint | null {
  if (fingerprint === null || shortForm.test(fingerprint.value)) return fingerprint
  const { kind, value } = fingerprint
  const long = kind === 'computed' ? value : `sha256:${hash('sha256', value, 'hex')}`
  return { ...fingerprint, value: long.slice(0, 'sha256:'.length + 16) }
}

function comparedText(payloadText: string, rule: FingerprintRule): string | null {
  if (rule === 'payload') return payloadText
  if (rule === 'off') return null
  if ('exclude' in rule) return removePointers(payloadText, rule.exclude)
  const parts = selectPointers(payloadText, rule.include).map(
    ({ pointer, text }) => `${JSON.stringify(pointer)}:${text}`,
  )
  return `{${parts.join(',')}}`
}
