import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprintsDiffer } from '../src/decide.ts'
import { computeFingerprint } from '../src/fingerprint.ts'
import { jsonText } from './json-texts.ts'

const digestOf = (...asked: Parameters<typeof computeFingerprint>) => computeFingerprint(...asked)?.value ?? null

describe('fingerprints of different rules', () => {
  const payload = '{"id":1,"at":2}'

  test('are never taken for another payload, as a policy may change its rule', () => {
    const rules = ['payload', { exclude: ['/at'] }, { exclude: ['/id'] }, { include: ['/at'] }] as const
    for (const before of rules) {
      for (const after of rules) {
        const [kept, given] = [before, after].map((rule) => computeFingerprint(payload, rule as never))
        expect(fingerprintsDiffer(kept ?? null, given ?? null)).toBe(false)
      }
    }
  })

  test('are compared where the rule only names its pointers in another order', () => {
    const [one, other] = [
      computeFingerprint(payload, { exclude: ['/x', '/y'] }),
      computeFingerprint('{"id":2}', { exclude: ['/y', '/x'] }),
    ]
    expect(fingerprintsDiffer(one, other)).toBe(true)
  })
})

// Digests worked out with another program from the canonical text.
describe('known fingerprints', () => {
  test.each([
    ['{"order_id":88}', '744051a5bb68ca717322fd428890681b7c8e8b88ce906863752437f6eee8a676'],
    [
      ' { "order_id" : 8.8e1, "amount":"129\\u002e90" } ',
      '661226669ebbab1a083094afb0c78fa4e5f26b82957baed56803813c64777645',
    ],
    ['null', '74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b'],
    [
      '{"b":[1.0,2,{"c":"\\u00e9\\u20AC😀"}],"a":1}',
      '16a36a6709db3394f720cb89209a80a8b2f65abe8d3c4a85791d136e1d53b16c',
    ],
    ['9007199254740992', 'c681da39d7273a6a24c15c9cac3a75526ff2ecf8ba4ee60346a0c70c8163bdb2'],
    ['9007199254740993', 'a1c367c29158357e62a3ff5d3e800fb7698a22396439dbc0a9d4929322afd35d'],
    ['"\\uD800"', '8c0c59dd0d275aadcd462a5fe12eb352cbdfeaf961eae4f85a4660521df7d2f5'],
    ['"\\u0000"', '700174b26850d224c7a156cb6a45cea08031eab640fcfc1eaf7f770ab9aeaa66'],
  ])('the fingerprint of %s is known', (payload, hex) => {
    expect(digestOf(payload, 'payload')).toBe(`sha256:${hex}`)
  })

  test('the fingerprints of a payload without an array element and of included values are known', () => {
    expect(digestOf('{"a":[1,2,3]}', { exclude: ['/a/1'] })).toBe(
      'sha256:e203abe8d8d9b9103b35a23236abd07754789e5ca35093e782c418c917700f3f',
    )
    expect(digestOf('{"a":{"b":1.0,"c":2}}', { include: ['/a/b'] })).toBe(
      'sha256:891263be47b3cddc83e6f480b0051156679d58f9d4cb9027435065172999d3a3',
    )
    expect(digestOf('{"x":1}', { include: ['/id'] })).toBe(
      'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    )
    expect(digestOf('{"id":null}', { include: ['/id'] })).toBe(
      'sha256:ca99a568c42a1a247d259aaab1e261d331cc3bb14fd2f9048b83619945782bc4',
    )
  })
})

const whole = (payload: string) => digestOf(payload, 'payload')

describe('off', () => {
  test('gives no fingerprint, and neither does excluding everything', () => {
    expect(digestOf('{"a":1}', 'off')).toBeNull()
    expect(digestOf('{"a":1}', { exclude: ['/a', ''] })).toBeNull()
  })
})

describe('exclude', () => {
  const without = (payload: string, ...exclude: string[]) => digestOf(payload, { exclude })

  test.each([
    ['{"a":1,"at":"10:00","b":{"at":1,"c":2}}', ['/at'], '{"a":1,"b":{"at":1,"c":2}}'],
    ['{"a":1,"at":"10:00","b":{"at":1,"c":2}}', ['/at', '/b/at'], '{"a":1,"b":{"c":2}}'],
    ['{"a":{"b":1}}', ['/a/b'], '{"a":{}}'],
    ['{"a":{"b":1}}', ['/a', '/a/b'], '{}'],
    ['[1,2,3,4]', ['/0', '/2'], '[2,4]'],
    ['[{"at":1,"n":1},{"at":2,"n":2}]', ['/0/at', '/1/at'], '[{"n":1},{"n":2}]'],
    ['{"a/b":1,"m~n":2,"~1":3,"c":4}', ['/a~1b', '/m~0n', '/~01'], '{"c":4}'],
    ['{"":1,"a":{"":2,"b":3}}', ['/', '/a/'], '{"a":{"b":3}}'],
    ['{"\\u0061t":1,"b":2}', ['/at'], '{"b":2}'],
    ['{"at":1,"b":2,"at":3}', ['/at'], '{"b":2}'],
    ['{"a":{"x":1,"y":1},"a":{"x":2}}', ['/a/x'], '{"a":{"y":1},"a":{}}'],
    ['{"__proto__":1,"constructor":2,"b":3}', ['/__proto__', '/constructor'], '{"b":3}'],
    ['{"0":1,"1":2}', ['/0'], '{"1":2}'],
  ])('%s without %j is %s', (payload, pointers, rest) => {
    expect(without(payload, ...pointers)).toBe(whole(rest))
  })

  test.each([
    ['{"a":1}', '/b'],
    ['{"a":1}', '/a/b'],
    ['[1,2]', '/-'],
    ['[1,2]', '/00'],
    ['[1,2]', '/2'],
    ['[1,2]', '/length'],
    ['{"a":"bcd"}', '/a/0'],
    ['"text"', '/0'],
    ['5', '/a'],
    ['{"a":1}', '/constructor'],
  ])('a pointer that names nothing changes nothing: %s without %s', (payload, pointer) => {
    expect(without(payload, pointer)).toBe(whole(payload))
  })

  test('an excluded member that is absent and one that is present are the same, whatever it holds', () => {
    expect(without('{"a":1,"at":null}', '/at')).toBe(without('{"a":1}', '/at'))
    expect(without('{"a":1,"at":{"x":[1]}}', '/at')).toBe(without('{"at":2,"a":1}', '/at'))
    expect(without('{"a":2,"at":1}', '/at')).not.toBe(without('{"a":1,"at":1}', '/at'))
  })

  test('without pointers it is the whole payload', () => {
    fc.assert(
      fc.property(jsonText, (payload) => {
        expect(without(payload)).toBe(whole(payload))
      }),
    )
  })
})

describe('include', () => {
  const only = (payload: string, ...include: string[]) => digestOf(payload, { include })

  test('an included member that is absent differs from one that is null', () => {
    expect(only('{"a":1}', '/id')).not.toBe(only('{"a":1,"id":null}', '/id'))
    expect(only('{"a":1}', '/id')).toBe(only('{"b":2}', '/id'))
  })

  test('what is not included does not count, the containers around included values neither', () => {
    expect(only('{"a":{"id":1,"x":2},"t":3}', '/a/id')).toBe(only('{"a":{"id":1.0}}', '/a/id'))
    expect(only('{"a":{}}', '/a/id')).toBe(only('{"a":5}', '/a/id'))
    expect(only('[9,{"id":1}]', '/1/id')).toBe(only('[8,{"id":1},7]', '/1/id'))
  })

  test('which pointer a value came from counts', () => {
    expect(only('{"a":1}', '/a', '/b')).not.toBe(only('{"b":1}', '/a', '/b'))
    expect(only('[1]', '/0', '/1')).not.toBe(only('[2,1]', '/0', '/1'))
    expect(only('{"a":1,"b":2}', '/a', '/b')).toBe(only('{"b":2,"a":1}', '/b', '/a', '/b'))
  })

  test('included values are compared by their meaning', () => {
    expect(only('{"a":{"y":1,"x":[1.0]}}', '/a')).toBe(only('{"a":{"x":[1],"y":1e0}}', '/a'))
    expect(only('{"id":9007199254740992}', '/id')).not.toBe(only('{"id":9007199254740993}', '/id'))
  })

  test('every member of a repeated name is included, in order', () => {
    expect(only('{"a":1,"a":2}', '/a')).not.toBe(only('{"a":2}', '/a'))
    expect(only('{"a":1,"a":2}', '/a')).not.toBe(only('{"a":2,"a":1}', '/a'))
    expect(only('{"a":1,"x":0,"a":2}', '/a')).toBe(only('{"a":1,"a":2}', '/a'))
  })

  test('the empty pointer includes the whole payload', () => {
    fc.assert(
      fc.property(jsonText, jsonText, (a, b) => {
        expect(only(a, '') === only(b, '')).toBe(whole(a) === whole(b))
      }),
    )
    expect(only('5', '')).not.toBe(only('6', ''))
  })
})
