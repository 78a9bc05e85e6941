import { type ClaimInput, checkText, limits } from '@ranbook/contract'

const keyLimits = { minBytes: 1, maxBytes: limits.keyMaxBytes }
const nameLimits = { minBytes: 1, maxBytes: limits.nameMaxBytes }
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/**
 * Says yes, in a tenth of the schema's time, to claims that are plainly valid: then `value` is what the schema would
 * have made of it. It may never say no: null means that the schema has to judge. `waits`: `wait_ms` may stand in it.
 */
export function acceptClaim(value: unknown, waits: boolean): ClaimInput | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const body = value as Record<string, unknown>
  if (body['class'] === undefined || body['key'] === undefined) return null
  for (const name in body) {
    if (!isPlainlyValid(name, body[name], waits)) return null
  }
  return value as ClaimInput
}

function isPlainlyValid(name: string, value: unknown, waits: boolean): boolean {
  switch (name) {
    case 'class':
      return isName(value) && !value.includes('*')
    case 'key':
      return typeof value === 'string' && checkText(value, keyLimits) === null
    case 'consumer':
    case 'owner':
    case 'fingerprint':
    case 'source':
      return isName(value)
    case 'claim_token':
      // Upper case is valid too, but the schema writes it in lower case.
      return typeof value === 'string' && UUID.test(value)
    case 'lease_ms':
      return isWhole(value, limits.leaseMinMs, limits.leaseMaxMs)
    case 'wait_ms':
      return waits && isWhole(value, 0, limits.waitMaxMs)
    case 'payload':
      return value !== undefined
    case 'refs':
      return Array.isArray(value) && value.length <= limits.refsMaxCount && value.every(isName)
    default:
      return false
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && checkText(value, nameLimits) === null
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
}
