import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkText } from '../src/text-limits.ts'

const key = { minBytes: 1, maxBytes: 1024 }

test.each([
  'k',
  'a/b%2F?#..',
  '__proto__',
  ' ',
  ' leading and trailing ',
  'k'.repeat(1024),
  'é'.repeat(512),
  '😀'.repeat(256),
  '\u2028',
  '\ufeff',
  '\u00a0',
  '\ufffe',
  '\u{10ffff}',
  'e\u0301',
  '\u200b',
  '\u202e',
])('%j may stand', (text) => {
  expect(checkText(text, key)).toBeNull()
})

test('the length counts in bytes of UTF-8, both ends included', () => {
  expect(checkText('', key)).toBe('must not be empty')
  expect(checkText('', { minBytes: 0, maxBytes: 1 })).toBeNull()
  expect(checkText('k'.repeat(1025), key)).toBe('must be at most 1024 bytes in UTF-8, not 1025')
  expect(checkText('é'.repeat(513), key)).toBe('must be at most 1024 bytes in UTF-8, not 1026')
  expect(checkText(`${'😀'.repeat(256)}x`, key)).toBe('must be at most 1024 bytes in UTF-8, not 1025')
  expect(checkText('éé', { minBytes: 5, maxBytes: 9 })).toBe('must be at least 5 bytes in UTF-8, not 4')
  expect(checkText('k'.repeat(2_000_000), key)).toContain('not 2000000')
})

test('every control character is refused, and named', () => {
  for (let code = 0; code <= 0xa0; code++) {
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0)
    const named = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    expect(checkText(`a${String.fromCharCode(code)}b`, key)).toBe(
      isControl ? `must not contain control characters (${named})` : null,
    )
  }
})

test.each(['\ud800', 'a\udc00', '\udc00\ud800', '\ud83d\ud83d\ude00', '😀\ud83d', 'x\ud83dx'])(
  'half of a surrogate pair is refused: %j',
  (text) => {
    expect(checkText(text, key)).toBe('must not contain half of a surrogate pair')
  },
)

test('a text passes exactly when Unicode has nothing against its characters and its bytes are within the limits', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  )
  const limits = { minBytes: 2, maxBytes: 12 }
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 8 }), (units) => {
      const text = units.join('')
      const bytes = new TextEncoder().encode(text).length
      expect(checkText(text, limits) === null).toBe(!/[\p{Cc}\p{Cs}]/u.test(text) && bytes >= 2 && bytes <= 12)
    }),
    { numRuns: 3000 },
  )
})
