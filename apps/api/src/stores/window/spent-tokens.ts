// Tokens of displaced attempts, one after the other in 16 bytes each.

const bytesEach = 16
/**
 * The newest so many are kept, 16 kB: of an older one it would no longer be known that it had an attempt. Only a key that
 * was given back or failed a thousand times within its window has as many.
 */
const tokensMax = 1000

/** A UUID's 16 bytes. */
export function tokenBytes(token: string): Buffer {
  return Buffer.from(token.replaceAll('-', ''), 'hex')
}

/** The UUID of 16 bytes, in lower case. */
export function tokenText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Whether one of them is that token. */
export function isSpent(spent: Buffer, token: string | null): boolean {
  if (token === null || spent.length === 0) return false
  const wanted = tokenBytes(token)
  for (let at = 0; at < spent.length; at += bytesEach) {
    if (wanted.equals(spent.subarray(at, at + bytesEach))) return true
  }
  return false
}

/** The tokens with one more; beyond the bound the oldest are left out. */
export function withToken(spent: Buffer, token: string): Buffer {
  return Buffer.concat([spent, tokenBytes(token)]).subarray(-tokensMax * bytesEach)
}
