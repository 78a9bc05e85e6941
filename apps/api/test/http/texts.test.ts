import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor } from '../../src/http/cursor.ts'
import { cutText } from '../../src/http/cut-text.ts'
import { timeText } from '../../src/http/time-text.ts'

test('a time is written as JavaScript writes it, in UTC with milliseconds', () => {
  const times = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) })
  fc.assert(
    fc.property(fc.array(times, { minLength: 1 }), (many) => {
      for (const ms of many) expect(timeText(ms)).toBe(new Date(ms).toISOString())
    }),
  )
  for (const ms of [0, 86_399_999, 86_400_000, Date.UTC(2028, 1, 29, 23, 59, 59, 999)]) {
    expect(timeText(ms)).toBe(new Date(ms).toISOString())
  }
})

test('a cut text is well-formed, fits, and is a beginning of the whole', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 20, max: 100 }), (text, maxBytes) => {
      const cut = cutText(text, maxBytes)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes)
      if (Buffer.byteLength(text) <= maxBytes) {
        expect(cut).toBe(text)
        return
      }
      const kept = cut.slice(0, -'… [cut]'.length)
      expect(text.startsWith(kept)).toBe(true)
      expect(Buffer.byteLength(kept)).toBeGreaterThan(maxBytes - Buffer.byteLength('… [cut]') - 4)
      expect(cut.endsWith('… [cut]')).toBe(true)
    }),
    { numRuns: 3000 },
  )
})

test('a cursor leads back to its row, and no other text is one', () => {
  const digests = fc.stringMatching(/^[0-9a-f]{32}$/)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 8.64e15 / 10 }), digests, (firstClaimedAt, digest) => {
      expect(decodeCursor(encodeCursor(firstClaimedAt, digest))).toEqual({ firstClaimedAt, digest })
    }),
  )
  const good = encodeCursor(1_795_946_400_000, 'a'.repeat(32))
  for (const bad of ['', 'x', `${good} `, `${good}=`, good.slice(1), `${good}A`, good.replace('M', 'M\n'), '%00']) {
    expect(() => decodeCursor(bad)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
  }
})
