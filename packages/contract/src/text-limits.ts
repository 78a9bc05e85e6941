/** How long a text may be, in bytes of UTF-8, both ends included. */
export type TextLimits = {
  readonly minBytes: number
  readonly maxBytes: number
}

/**
 * Judges a key, a class, a consumer or another short text that people and programs pass on: its length in UTF-8, no
 * control characters (category Cc: U+0000 to U+001F, U+007F to U+009F), no lone surrogates. All else of Unicode may
 * stand in it, spaces, slashes and unassigned code points included; nothing is trimmed or normalised.
 *
 * Returns null for a text that may stand, else what it must be or may not hold, to be read after the field's name
 * ("must be at most 200 bytes in UTF-8, not 312").
 */
export function checkText(value: string, limits: TextLimits): string | null {
  let bytes = 0
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) {
      return `must not contain control characters (U+${code.toString(16).toUpperCase().padStart(4, '0')})`
    }
    if (code < 0x80) {
      bytes += 1
    } else if (code < 0x800) {
      bytes += 2
    } else if (code < 0xd800 || code > 0xdfff) {
      bytes += 3
    } else {
      const next = value.charCodeAt(at + 1)
      if (code > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return 'must not contain half of a surrogate pair'
      bytes += 4
      at++
    }
  }
  return bytes < limits.minBytes || bytes > limits.maxBytes ? describeLength(bytes, limits) : null
}

function describeLength(bytes: number, { minBytes, maxBytes }: TextLimits): string {
  if (bytes === 0) return 'must not be empty'
  if (bytes > maxBytes) return `must be at most ${maxBytes} bytes in UTF-8, not ${bytes}`
  return `must be at least ${minBytes} bytes in UTF-8, not ${bytes}`
}
