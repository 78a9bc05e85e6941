import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, sameJson } from '../src/canonical-json.ts'
import { canonicalNumber } from '../src/canonical-number.ts'
import { jsonText, numberText } from './json-texts.ts'

// Thousands of texts take seconds where other work shares the machine.
const TIMEOUT_MS = 60_000

describe('numbers', { timeout: TIMEOUT_MS }, () => {
  test.each([
    [['1', '1.0', '1e0', '10e-1', '100E-2', '0.1e1', '1.000000', '0.01e+2', '1e00'], '1'],
    [['0', '-0', '0.0', '-0.000', '0e5', '0e-999999999999999999999', '-0E+7'], '0'],
    [['-12.50', '-1.25e1', '-1250e-2'], '-12.5'],
    [['100000000000000000000', '1e20', '0.1e21'], '100000000000000000000'],
    [['1000000000000000000000', '1e21', '10e20'], '1e+21'],
    [['123456789012345678901'], '123456789012345678901'],
    [['1234567890123456789012', '1.234567890123456789012e21'], '1.234567890123456789012e+21'],
    [['0.000001', '1e-6', '0.1e-5'], '0.000001'],
    [['0.0000001', '1e-7', '10e-8'], '1e-7'],
    [['0.00000123', '123e-8'], '0.00000123'],
    [['1e400', '10e399', '1E+0400'], '1e+400'],
    [['-1.5e-400', '-15e-401'], '-1.5e-400'],
    [['1e000000000000000000000005', '1e5'], '100000'],
    [
      ['1e999999999999999999999999', '10e999999999999999999999998', '0.1e1000000000000000000000000'],
      '1e+999999999999999999999999',
    ],
    [['12e-999999999999999999999999'], '1.2e-999999999999999999999998'],
  ])('%j are written %s', (literals, canonical) => {
    for (const literal of literals) expect(canonicalJson(literal)).toBe(canonical)
  })

  test('numbers that one double stands for stay apart', () => {
    expect(sameJson('9007199254740992', '9007199254740993')).toBe(false)
    expect(sameJson('12345678901234567890', '12345678901234567891')).toBe(false)
    expect(sameJson('0.1', '0.1000000000000000055511151231257827')).toBe(false)
    expect(sameJson('1e400', '1e401')).toBe(false)
    expect(canonicalJson('[12345678901234567890]')).toBe('[12345678901234567890]')
  })

  test('every double is written as RFC 8785 writes it', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        for (const spelling of [JSON.stringify(value), value.toExponential()]) {
          expect(canonicalJson(spelling)).toBe(canonicalize(value))
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('a literal and its canonical spelling have exactly one value, and other values are spelled otherwise', () => {
    fc.assert(
      fc.property(numberText, numberText, (a, b) => {
        expect(exactValue(canonicalNumber(a))).toBe(exactValue(a))
        expect(canonicalNumber(a) === canonicalNumber(b)).toBe(exactValue(a) === exactValue(b))
      }),
      { numRuns: 2000 },
    )
  })

  test('moving the point and the exponent against each other changes nothing', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 30n }),
        fc.integer({ min: -500, max: 500 }),
        fc.nat(40),
        (digits, exponent, zeros) => {
          const plain = canonicalNumber(`${digits}e${exponent}`)
          expect(canonicalNumber(`${digits}${'0'.repeat(zeros)}e${exponent - zeros}`)).toBe(plain)
          expect(canonicalNumber(`0.${'0'.repeat(zeros)}${digits}E${exponent + zeros + String(digits).length}`)).toBe(
            plain,
          )
        },
      ),
      { numRuns: 2000 },
    )
  })

  // Digits without outer zeros and the power of ten behind them, by another way than the code's: long arithmetic.
  function exactValue(literal: string): string {
    const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e')
    const [whole = '', fraction = ''] = mantissa.split('.')
    let digits = BigInt(whole + fraction)
    if (digits === 0n) return '0'
    let power = BigInt(exponent) - BigInt(fraction.length)
    while (digits % 10n === 0n) {
      digits /= 10n
      power += 1n
    }
    return `${whole.startsWith('-') && digits > 0n ? -digits : digits}e${power}`
  }
})

describe('strings', () => {
  test('only what must be escaped is escaped, in its shortest form', () => {
    expect(canonicalJson('"\\u0041\\/\\u00e9\\ud83d\\ude00\\u2028\\u007f"')).toBe('"A/é😀\u2028\u007f"')
    expect(canonicalJson('"\\u0008\\u0009\\u000A\\u000c\\u000D\\u0022\\u005C\\u0000\\u001F"')).toBe(
      '"\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u001f"',
    )
    expect(canonicalJson('"\u2028\u2029\ufeff"')).toBe('"\u2028\u2029\ufeff"')
  })

  test('a lone surrogate stays an escape, in lower case', () => {
    expect(canonicalJson('"\\uD800"')).toBe('"\\ud800"')
    expect(canonicalJson('"\\uDE00\\uD83D"')).toBe('"\\ude00\\ud83d"')
    expect(sameJson('"\\ud800"', '"\\ufffd"')).toBe(false)
    expect(sameJson('"\\ud800"', '"\\ud801"')).toBe(false)
  })

  test('nothing is normalised', () => {
    expect(sameJson('"caf\u00e9"', '"cafe\u0301"')).toBe(false)
    expect(sameJson('"caf\u00e9"', '"caf\\u00e9"')).toBe(true)
  })
})

describe('objects and arrays', () => {
  test('members are sorted by the UTF-16 code units of their names', () => {
    expect(canonicalJson('{"b":1,"a":2,"10":3,"9":4,"":5,"B":6,"aa":7}')).toBe(
      '{"":5,"10":3,"9":4,"B":6,"a":2,"aa":7,"b":1}',
    )
    // U+1F600 begins with the unit D83D, which is below U+FB33 though the character is above it.
    expect(canonicalJson('{"\ufb33":1,"😀":2,"\\u00f6":3,"\\r":4}')).toBe('{"\\r":4,"ö":3,"😀":2,"\ufb33":1}')
    expect(canonicalJson('{"b":1,"\\u0061":2}')).toBe('{"a":2,"b":1}')
  })

  test('members with one name keep their order', () => {
    expect(canonicalJson('{"b":1,"a":1,"b":2,"\\u0061":0,"a":3}')).toBe('{"a":1,"a":0,"a":3,"b":1,"b":2}')
    expect(sameJson('{"a":1,"a":2}', '{"a":2,"a":1}')).toBe(false)
    expect(sameJson('{"a":1,"a":2}', '{"a":2}')).toBe(false)
  })

  test('names that objects inherit are names like others', () => {
    expect(canonicalJson('{"constructor":1,"__proto__":{"b":1,"a":2},"a":3}')).toBe(
      '{"__proto__":{"a":2,"b":1},"a":3,"constructor":1}',
    )
    expect(sameJson('{"__proto__":1}', '{}')).toBe(false)
  })

  test('elements keep their order and white space is dropped', () => {
    expect(canonicalJson(' [ 3 , 1,\n{ "b" : [ ] , "a" : { } } ,\t2, null,true , false ] ')).toBe(
      '[3,1,{"a":{},"b":[]},2,null,true,false]',
    )
    expect(sameJson('[1,2]', '[2,1]')).toBe(false)
  })

  test('values of different kinds differ', () => {
    const kinds = [
      'null',
      '0',
      '""',
      '"0"',
      'false',
      '[]',
      '{}',
      '[null]',
      '{"a":null}',
      '"null"',
      '[0]',
      'true',
      '1',
      '"1"',
    ]
    for (const a of kinds) for (const b of kinds) expect(sameJson(a, b)).toBe(a === b)
  })
})

describe('for any JSON', { timeout: TIMEOUT_MS }, () => {
  test('what plain values hold is written as RFC 8785 writes it', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }),
        fc.constantFrom(undefined, 1, '\t'),
        (value, indent) => {
          expect(canonicalJson(JSON.stringify(value, null, indent))).toBe(canonicalize(value))
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('the canonical spelling is its own, and JSON.parse takes both for the same', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const canonical = canonicalJson(text)
        expect(canonicalJson(canonical)).toBe(canonical)
        expect(canonicalJson(` ${canonical}\n`)).toBe(canonical)
        expect(sortedWithoutMinusZero(JSON.parse(canonical))).toBe(sortedWithoutMinusZero(JSON.parse(text)))
      }),
      { numRuns: 2000 },
    )
  })

  function sortedWithoutMinusZero(value: unknown): string {
    if (typeof value === 'number') return String(value)
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    if (Array.isArray(value)) return `[${value.map(sortedWithoutMinusZero).join()}]`
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}:${sortedWithoutMinusZero(member)}`,
    )
    return `{${members.sort().join()}}`
  }

  test('the order of members does not count', () => {
    const members = fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), jsonText), {
      selector: ([name]) => name,
      maxLength: 8,
    })
    const object = (from: [string, string][]) =>
      `{${from.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(' ,')}}`
    fc.assert(
      fc.property(
        members.chain((from) => fc.tuple(fc.constant(from), fc.shuffledSubarray(from, { minLength: from.length }))),
        ([from, shuffled]) => {
          expect(sameJson(object(from), object(shuffled))).toBe(true)
        },
      ),
    )
  })
})

describe('bad use', () => {
  test.each([
    '',
    ' ',
    '{',
    '[1',
    '[1 2]',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    'nul',
    'x',
    '1 2',
    '{} {}',
    ']',
    '-',
    '1e',
    '--1',
    '[1,]',
    '{"a":1,}',
    '1.',
  ])('throws on %j, which is not JSON', (text) => {
    expect(() => canonicalJson(text)).toThrow(SyntaxError)
  })

  test('throws on more than 64 levels, a million of them too, and takes 64', () => {
    expect(canonicalJson('['.repeat(64) + ']'.repeat(64))).toHaveLength(128)
    for (const depth of [65, 1_000_000]) expect(() => canonicalJson('['.repeat(depth))).toThrow(RangeError)
    expect(() => canonicalJson('{"a":'.repeat(1_000_000))).toThrow(RangeError)
  })

  test('canonicalJson takes time by the length alone', () => {
    const descending = Array.from({ length: 50_000 }, (_, index) => `"m${50_000 - index}":0`).join(',')
    const hostile = [
      `"${'\\"'.repeat(130_000)}"`,
      `"${'\\\\'.repeat(130_000)}"`,
      `[${'0,'.repeat(130_000)}0]`,
      `{${descending}}`,
      `1e${'9'.repeat(398)}`,
    ]
    for (const text of hostile) {
      const start = performance.now()
      expect(canonicalJson(text).length).toBeGreaterThan(0)
      expect(performance.now() - start).toBeLessThan(2000)
    }
  })
})
