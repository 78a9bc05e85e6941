const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

// Exponents of up to this many digits are added as plain numbers without rounding; longer ones as big integers.
const PLAIN_EXPONENT_CHARS = 15

/**
 * A JSON number literal in the one spelling that all literals of its exact decimal value share: ECMAScript's
 * Number::toString layout applied to the literal's own digits, so nothing is rounded. `-0` is `0`; `1.0`, `1e0` and
 * `10e-1` are `1`; 9007199254740993 keeps its last digit. Where a double's shortest form is the literal's value, the
 * result is what RFC 8785 writes.
 *
 * Throws a SyntaxError when `literal` is no number.
 */
export function canonicalNumber(literal: string): string {
  const parts = LITERAL.exec(literal)
  if (parts === null) throw new SyntaxError('not a JSON number')
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const all = whole + fraction
  let first = 0
  while (all.charCodeAt(first) === 0x30) first++
  let last = all.length
  while (last > first && all.charCodeAt(last - 1) === 0x30) last--
  const digits = all.slice(first, last)
  if (digits === '') return '0'
  // The value is 0.digits × 10^point.
  const shift = whole.length - first
  if (exponent.length > PLAIN_EXPONENT_CHARS)
    return sign + layOutLong(digits, BigInt(exponent.replace('+', '')) + BigInt(shift))
  return sign + layOut(digits, Number(exponent) + shift)
}

function layOut(digits: string, point: number): string {
  // 21 and -6 are where ECMAScript changes to an exponent.
  if (point > 21 || point <= -6) return withExponent(digits, String(point - 1))
  if (point >= digits.length) return digits + '0'.repeat(point - digits.length)
  if (point > 0) return `${digits.slice(0, point)}.${digits.slice(point)}`
  return `0.${'0'.repeat(-point)}${digits}`
}

function layOutLong(digits: string, point: bigint): string {
  // Zeros before the exponent's digits, or very many fraction digits, can make a long exponent a small one after all.
  if (point > -1000n && point < 1000n) return layOut(digits, Number(point))
  return withExponent(digits, String(point - 1n))
}

function withExponent(digits: string, exponent: string): string {
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`
  return `${mantissa}e${exponent.startsWith('-') ? '' : '+'}${exponent}`
}
