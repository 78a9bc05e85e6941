import { limits } from '@ranbook/contract'

const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/** The caller's own `X-Request-Id` where it is 1 to 128 visible ASCII characters, else a fresh one. */
export function requestIdOf(given: string | string[] | undefined, newRequestId: () => string): string {
  const isTaken = typeof given === 'string' && given.length <= limits.requestIdMaxChars && VISIBLE_ASCII.test(given)
  return isTaken ? given : newRequestId()
}
