import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { idempotencyKey, parseIdempotencyKey, parseRecordId, recordDigest, recordId } from '../src/identity.ts'

const DIGEST = '62b74e04c704c88d625938f9eb89808e'

// Digests worked out with another program.
test.each([
  ['billing-worker', 'refund.issued', 'order:88:refund', DIGEST],
  ['a', 'bc', 'd', 'f15d229cb99884b43b3eb825d886c6d9'],
  ['ab', 'c', 'd', 'febb2fc5e2b7f08feafc5d7b28689b27'],
  ['a', 'b', 'cd', '318a48898384dff85c0d97e3b5466b3e'],
  ['', '', '', '15ec7bf0b50732b49f8228e07d243653'],
  ['w', 'c', 'x'.repeat(127), 'b7473fd23de97dd1213730b01c067ac5'],
  ['w', 'c', 'x'.repeat(128), '7b77c5061978c3bf935b66584c9d6da5'],
  ['w', 'c', `${'é'.repeat(63)}x`, '89a1ed80afa827f9ce4dafe634d297e6'],
  ['w', 'c', 'é'.repeat(64), 'b19132d080c289f74aa7d4a495dd52d0'],
  ['w', 'c', 'k'.repeat(1024), 'd8500217a3ec79350b6bc56c72e7349b'],
  ['w', 'c', '😀\u2028/%?#..', '577a44a22fb29f2b26f293fd4d1e8de9'],
  ['w', 'c', 'caf\u00e9', '871ceb44c792fe263d59866074b56e45'],
  ['w', 'c', 'cafe\u0301', 'ca393a62d82a31474c317ec60c376258'],
  ['w'.repeat(200), 'c'.repeat(200), 'k', '42fec1cfeaba3b4bb03b35c439cf4748'],
])('the digest of (%j, %j, %j) is known', (consumer, eventClass, key, digest) => {
  expect(recordDigest(consumer, eventClass, key)).toBe(digest)
})

describe('the digest', { timeout: 60_000 }, () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: 'grapheme', minLength: 30, maxLength: 300 }),
  )
  const identity = fc.tuple(text, text, text)

  test('is the first half of SHA-256 over the parts, each behind its length in four bytes', () => {
    fc.assert(
      fc.property(identity, (parts) => {
        const sha = createHash('sha256')
        for (const part of parts) {
          const utf8 = new TextEncoder().encode(part)
          sha.update(Uint8Array.of(utf8.length >>> 24, utf8.length >>> 16, utf8.length >>> 8, utf8.length)).update(utf8)
        }
        expect(recordDigest(...parts)).toBe(sha.digest('hex').slice(0, 32))
      }),
      { numRuns: 2000 },
    )
  })

  test('differs whenever one of the parts differs', () => {
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        expect(recordDigest(...a) === recordDigest(...b)).toBe(a.every((part, index) => part === b[index]))
      }),
    )
  })

  test('differs when characters move from one part to the next', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 }),
        fc.nat(),
        fc.nat(),
        (all, first, second) => {
          const cut = (at: number) => {
            const middle = at % (all.length + 1)
            return recordDigest(all.slice(0, middle), all.slice(middle), 'key')
          }
          expect(cut(first) === cut(second)).toBe(first % (all.length + 1) === second % (all.length + 1))
        },
      ),
    )
  })

  test('is byte-exact: case, outer spaces and normal forms count', () => {
    const spellings = [
      'key',
      'Key',
      'KEY',
      ' key',
      'key ',
      'k\u00e9y',
      'ke\u0301y',
      'ｋｅｙ',
      'key\u200b',
      '__proto__',
      'ſ',
      's',
    ]
    expect(new Set(spellings.map((key) => recordDigest('w', 'c', key))).size).toBe(spellings.length)
  })
})

describe('record ids', () => {
  test('give their digest back', () => {
    expect(parseRecordId(`rec_${DIGEST}`)).toEqual({ store: 'ledger', digest: DIGEST })
    expect(parseRecordId(`win_${DIGEST}`)).toEqual({ store: 'window', digest: DIGEST })
  })

  test('name the store that holds the record', () => {
    expect(recordId({ digest: DIGEST, window: null })).toBe(`rec_${DIGEST}`)
    const window = { place: 'redis', ms: 1000, degraded: false } as const
    expect(recordId({ digest: DIGEST, window })).toBe(`win_${DIGEST}`)
  })

  test.each([
    '',
    'rec_',
    DIGEST,
    `rec_${DIGEST}0`,
    `rec_${DIGEST.slice(1)}`,
    `rec_${DIGEST.toUpperCase()}`,
    `wim_${DIGEST}`,
    ` rec_${DIGEST}`,
    `rec_${DIGEST}\n`,
  ])('%j is no record id', (id) => {
    expect(parseRecordId(id)).toBeNull()
  })
})

describe('idempotency keys', () => {
  test('give digest, generation and label back', () => {
    expect(idempotencyKey(DIGEST, 1)).toBe(`rbk-${DIGEST}-1`)
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        fc.option(fc.string({ unit: 'binary', minLength: 1 })),
        (generation, label) => {
          const key = idempotencyKey(DIGEST, generation)
          expect(parseIdempotencyKey(label === null ? key : `${key}:${label}`)).toEqual({
            digest: DIGEST,
            generation,
            label,
          })
        },
      ),
    )
  })

  test('a label may hold colons and line breaks', () => {
    expect(parseIdempotencyKey(`rbk-${DIGEST}-3:stripe:a\nb`)).toEqual({
      digest: DIGEST,
      generation: 3,
      label: 'stripe:a\nb',
    })
  })

  test.each([
    '',
    `rbk-${DIGEST}`,
    `rbk-${DIGEST}-`,
    `rbk-${DIGEST}-0`,
    `rbk-${DIGEST}-01`,
    `rbk-${DIGEST}--1`,
    `rbk-${DIGEST}-1.5`,
    `rbk-${DIGEST}-1:`,
    `rbk-${DIGEST}-1 `,
    `rbk-${DIGEST}-9007199254740993`,
    `rbk-${DIGEST}-99999999999999999999`,
    `rbk-${DIGEST.slice(1)}-1`,
    `rbk-${DIGEST.toUpperCase()}-1`,
    `rec_${DIGEST}`,
  ])('%j is no idempotency key', (text) => {
    expect(parseIdempotencyKey(text)).toBeNull()
  })
})
