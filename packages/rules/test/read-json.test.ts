import { describe, expect, test } from 'vitest'
import { JsonRefusal, type JsonShape, JsonText, readJson } from '../src/read-json.ts'
import { claim, claims, read, readRefusal, readValue, settlement, settlements } from './json-bodies.ts'

function readItems(text: string, shape: JsonShape, name: string): unknown[] {
  return readValue(text, shape)[name] as unknown[]
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('what readJson keeps', () => {
  test('a text member is the very characters that were sent, without white space around them', () => {
    const payload =
      '{ "b":1, "2" : 2,"1":3.0, "b":1e400,\n"n":12345678901234567890,"z":-0,"s":"\\u0000\\ud800\\/\u2028" }'
    const value = readValue(`{"key":"k", "payload" :\t${payload} \n,"wait_ms":0}`)
    expect(value).toEqual({ key: 'k', payload: new JsonText(payload), wait_ms: 0 })
  })

  test.each(['null', 'true', '-0', '1.50', '"a"', '[]', '{}', '12345678901234567890', '"\\"}"'])(
    'a text member may be any value: %s',
    (payload) => {
      expect(readValue(`{"payload":${payload}}`)['payload']).toEqual(new JsonText(payload))
    },
  )

  test('an absent text member stays absent', () => {
    expect(readValue('{"key":"k"}')).toEqual({ key: 'k' })
  })

  test('an escaped spelling of the name of a text member counts as the name', () => {
    expect(readValue('{"p\\u0061yload":1.0}')['payload']).toEqual(new JsonText('1.0'))
    expect(readValue('{"res\\u0075lt":[1 ]}', settlement)['result']).toEqual(new JsonText('[1 ]'))
  })

  test('members inside a text member are not looked at', () => {
    const payload = '{"payload":1,"payload":2,"a":{"payload":3},"x":1,"x":2}'
    expect(readValue(`{"payload":${payload}}`)['payload']).toEqual(new JsonText(payload))
  })

  test('the detail of an error is kept as text, its other members are values', () => {
    expect(readValue('{"error":{"message":"m","detail": {"n":1.0} ,"code":"c"}}', settlement)).toEqual({
      error: { message: 'm', detail: new JsonText('{"n":1.0}'), code: 'c' },
    })
  })

  test('a member of another kind than its shape is parsed like any JSON', () => {
    expect(readValue('{"error":["detail"]}', settlement)).toEqual({ error: ['detail'] })
    expect(readValue('{"claims":{"payload":1}}', claims)).toEqual({ claims: { payload: 1 } })
    expect(readValue('{"error":[{"detail":1}]}', settlement)).toEqual({ error: [{ detail: 1 }] })
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s is an own member like any other',
    (name) => {
      const value = readValue(`{"${name}":{"a":1},"payload":2}`)
      expect(Object.keys(value)).toEqual([name, 'payload'])
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    },
  )

  test.each(['[1]', '"a"', 'null', '1', 'true', '[{"payload":1}]'])(
    'a body that is no object is read as it is: %s',
    (text) => {
      expect(readValue(text)).toEqual(JSON.parse(text))
    },
  )

  test('items of a batch keep their texts and their places', () => {
    const text = '{"claims":[ {"key":"a","payload":1.0} , 7, {"key":"b"},[{"payload":1}],{"payload":{"payload":1e2}}]}'
    expect(readItems(text, claims, 'claims')).toEqual([
      { key: 'a', payload: new JsonText('1.0') },
      7,
      { key: 'b' },
      [{ payload: 1 }],
      { payload: new JsonText('{"payload":1e2}') },
    ])
    expect(readItems('{"settlements":[{"error":{"detail":1.0}},{"result":2.0}]}', settlements, 'settlements')).toEqual([
      { error: { detail: new JsonText('1.0') } },
      { result: new JsonText('2.0') },
    ])
  })

  test('bytes that are a view into a larger buffer are read from where they lie', () => {
    const whole = new TextEncoder().encode('xx{"payload":1.0}yy')
    expect(readJson(whole.subarray(2, -2), claim)).toEqual({ ok: true, value: { payload: new JsonText('1.0') } })
  })
})

describe('what readJson refuses', () => {
  test('ill-formed UTF-8, also inside a text member', () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"payload":"'), Buffer.from(bytes), Buffer.from('"}')])
      expect(readRefusal(body)).toContain('UTF-8')
    }
  })

  test('a byte order mark', () => {
    expect(readRefusal('\ufeff{"payload":1}')).toContain('byte order mark')
    expect(readRefusal(Buffer.from('\ufeff{}', 'utf16le'))).toContain('UTF-8')
    expect(readRefusal('{"payload":\ufeff1}')).toContain('not valid JSON')
  })

  test.each([
    '',
    ' ',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{"payload":1 2}',
    '{"payload":}',
    ']]]]',
    '[1,]',
    '01',
    '1.',
    '.5',
    '+1',
    'NaN',
    'undefined',
    '{"a":"\0"}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"\\x":1}',
    '{"a":1}x',
    '{"a":1}{}',
    '{"a":1]',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '\u00a0{}',
    '{"claims":[1 2]}',
    '{"claims":[,]}',
    '{"payload":[}',
    '/**/{}',
    '{"a":"',
  ])('text that is not JSON: %j', (text) => {
    for (const shape of [claim, claims, settlement, {}]) expect(readRefusal(text, shape)).toContain('not valid JSON')
  })

  test('broken JSON is refused with its place and none of its text', () => {
    expect(readRefusal('{"a":1,\n  "b":sesame}')).toBe('The body is not valid JSON: see line 2, column 7.')
    expect(readRefusal('{"a":[1,2')).toBe('The body is not valid JSON: it ends too early.')
  })

  test('a member of the envelope named twice, whatever its spelling', () => {
    expect(readRefusal('{"key":"a","payload":1,"key":"a"}')).toBe('The member "key" is named twice.')
    expect(readRefusal('{"payload":1,"p\\u0061yload":1}')).toBe('The member "payload" is named twice.')
    expect(readRefusal('{"__proto__":1,"__proto__":2}')).toContain('__proto__')
    expect(readRefusal('{"":1,"":2}')).toBe('The member "" is named twice.')
    expect(readRefusal('{"a\\u0000":1,"a\\u0000":2}')).toBe('The member "a\\u0000" is named twice.')
  })

  test('a member of an error named twice', () => {
    expect(readRefusal('{"error":{"detail":1,"det\\u0061il":2}}', settlement)).toContain('"detail"')
  })

  test('a list named twice', () => {
    expect(readRefusal('{"claims":[{}],"claims":[]}', claims)).toContain('"claims"')
  })

  test('every refusal has the code invalid_json', () => {
    for (const text of ['', '\ufeff{}', '{"a":1,"a":2}', nested(65), '7'.repeat(401)]) {
      expect(read(text)).toMatchObject({ ok: false, code: 'invalid_json' })
    }
  })

  test('a refusal shows no more than the beginning of a long name', () => {
    const name = 'n'.repeat(100_000)
    expect(readRefusal(`{"${name}":1,"${name}":1}`).length).toBeLessThan(200)
  })

  test('containers nested over 64 deep, the envelope counted', () => {
    expect(readValue(`{"payload":${nested(63)}}`)['payload']).toEqual(new JsonText(nested(63)))
    expect(readRefusal(`{"payload":${nested(64)}}`)).toContain('over 64 deep')
    expect(read(nested(64)).ok).toBe(true)
    expect(readRefusal(nested(65))).toContain('over 64 deep')
    expect(readValue(`{"error":{"detail":${nested(62)}}}`, settlement)).toHaveProperty('error')
    expect(readRefusal(`{"error":{"detail":${nested(63)}}}`, settlement)).toContain('over 64 deep')
    expect(readRefusal(`{"other":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`)).toContain('over 64 deep')
  })

  test('brackets inside strings do not count as depth', () => {
    expect(read(`{"payload":"${'['.repeat(100)}\\"${'{'.repeat(100)}"}`).ok).toBe(true)
  })

  test('a number of over 400 characters, wherever it stands', () => {
    const digits = (count: number) => '7'.repeat(count)
    expect(readValue(`{"payload":${digits(400)}}`)['payload']).toEqual(new JsonText(digits(400)))
    expect(readRefusal(`{"payload":[${digits(401)}]}`)).toContain('400 characters')
    expect(readRefusal(`{"payload":1e${digits(400)}}`)).toContain('400 characters')
    expect(readRefusal(`{"lease_ms":-0.${digits(400)}}`)).toContain('400 characters')
    expect(readRefusal(digits(401))).toContain('400 characters')
    expect(read(`{"payload":"${digits(500)}"}`).ok).toBe(true)
  })
})

describe('one item of a batch', () => {
  const batchWith = (item: string) =>
    readItems(`{"claims":[{"key":"a"},${item},{"key":"b","payload":1.0}]}`, claims, 'claims')

  test.each([
    ['a member named twice', '{"key":"x","payload":1,"k\\u0065y":"y"}', 'The member "key" is named twice.'],
    ['65 levels', `{"payload":${nested(64)}}`, 'over 64 deep'],
    ['900 levels', `{"payload":${nested(900)}}`, 'over 64 deep'],
    ['a number too long', `{"payload":${'7'.repeat(401)}}`, '400 characters'],
  ])('with %s is refused alone', (_, item, detail) => {
    const [first, refused, last] = batchWith(item)
    expect(first).toEqual({ key: 'a' })
    expect(last).toEqual({ key: 'b', payload: new JsonText('1.0') })
    expect(refused).toBeInstanceOf(JsonRefusal)
    expect((refused as JsonRefusal).detail).toContain(detail)
  })

  test('may be as deep and as long as the same request sent alone', () => {
    const item = `{"payload":[${nested(62)},${'7'.repeat(400)}]}`
    expect(read(item).ok).toBe(true)
    expect(batchWith(item)[1]).toEqual(readValue(item))
  })

  test('that repeats a name inside an error is refused alone', () => {
    const items = readItems('{"settlements":[{"error":{"code":1,"code":2}},{"id":"x"}]}', settlements, 'settlements')
    expect(items[0]).toBeInstanceOf(JsonRefusal)
    expect(items[1]).toEqual({ id: 'x' })
  })

  test('that is no object and too deep refuses the body', () => {
    expect(readRefusal(`{"claims":[{"key":"a"},${nested(63)}]}`, claims)).toContain('over 64 deep')
  })
})
