import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { findJsonFault } from '../src/json-fault.ts'
import { JsonRefusal, type JsonShape, JsonText } from '../src/read-json.ts'
import { claim, claims, read, readRefusal, readValue, settlement } from './json-bodies.ts'
import { jsonText, mutationsOf } from './json-texts.ts'

// Thousands of bodies take seconds where other work shares the machine.
const TIMEOUT_MS = 60_000

describe('hostile bodies', () => {
  function within(limitMs: number, work: () => void): void {
    const start = performance.now()
    work()
    expect(performance.now() - start).toBeLessThan(limitMs)
  }

  test('a million levels are refused without being built, alone and in a batch', () => {
    for (const open of ['[', '{"a":']) {
      const deep = open.repeat(1_000_000)
      for (const text of [
        deep,
        `{"payload":${deep}`,
        `{"claims":[{"payload":${deep}`,
        `{"claims":[{},{"a":${deep}`,
        `{"claims":${deep}`,
      ]) {
        for (const shape of [claim, claims])
          within(2000, () => expect(readRefusal(text, shape)).toContain('over 64 deep'))
      }
    }
  })

  test.each(['\\"', '\\\\', '"', '\\', '0,', ',', '{}', '""', '-', ':', '[]', '{"a":1},'])(
    'the time grows with the length alone for a run of %j',
    (part) => {
      const run = part.repeat(Math.ceil(250_000 / part.length))
      for (const text of [run, `{"payload":"${run}"}`, `{"payload":[${run}0]}`, `{"claims":[${run}`]) {
        for (const shape of [claim, claims]) within(4000, () => void read(text, shape))
      }
    },
  )

  test('a thousand members are read, and a repeat among them is found', () => {
    const members = Array.from({ length: 999 }, (_, index) => `"m${index}":0`).join(',')
    expect(Object.keys(readValue(`{${members}}`))).toHaveLength(999)
    expect(readRefusal(`{${members},"m7":0}`)).toContain('"m7"')
  })

  const many = (value: string, count: number): string => `[${Array(count).fill(value).join(',')}]`

  test('a list of more items than its shape lets it hold is refused by its name, and read up to there', () => {
    expect(readValue(`{"claims":${many('{}', 1000)}}`, claims)['claims']).toHaveLength(1000)
    for (const item of ['{}', '0', '{"payload":1}']) {
      expect(read(`{"claims":${many(item, 1001)}}`, claims)).toMatchObject({ code: 'invalid_request', path: 'claims' })
    }
  })

  test.each([
    ['a body', (loose: string) => loose, claim],
    ['a member nobody asked for', (loose: string) => `{"x":${loose}}`, claim],
    ['a list of an item', (loose: string) => `{"claims":[{"refs":${loose}}]}`, claims],
    ['the items themselves', (loose: string) => `{"claims":[0,${loose}]}`, claims],
    ['an object inside', (loose: string) => `{"error":{"x":${loose}}}`, settlement],
  ])('over a thousand values are refused in %s, and never built', (_, bodyOf, shape) => {
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    for (const loose of [many('{}', 1001), many('1', 1001), many('[[]]', 600), many('{"a":1,"b":2}', 600)]) {
      expect(readRefusal(bodyOf(loose), shape)).toContain('more than 1000 values')
    }
    expect(parse).not.toHaveBeenCalled()
  })

  test('the members of a body count as well, its texts’ values do not', () => {
    const members = (name: string) => Array.from({ length: 1001 }, () => `"${name}":0`).join(',')
    for (const name of ['a', 'payload']) expect(readRefusal(`{${members(name)}}`)).toContain('more than 1000 values')
    const text = many('{}', 50_000)
    expect(readValue(`{"payload":${text}}`)['payload']).toEqual(new JsonText(text))
  })

  test('the values of a text are never built together with those around it, too large a text’s not at all', () => {
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    const large = many('{}', 500_000)
    const fitting = many('{}', 50_000)
    const items = [`{"payload":${large}}`, `{"payload":${fitting}}`, `{"payload":${fitting}}`]
    expect(readValue(`{"claims":[${items}]}`, claims)['claims']).toHaveLength(3)
    expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBe(fitting.length)
    expect(readRefusal(`{"payload":${large.slice(0, -1)}}`)).toContain('not valid JSON')
    expect(readRefusal(`{"payload":${large.slice(0, -1)}x]}`)).toContain('not valid JSON')
  })
})

describe('for any text', () => {
  const body = fc.record({ first: jsonText, payload: jsonText, last: jsonText }).map(({ first, payload, last }) => ({
    payload,
    text: `{"first": ${first} ,"payload":\n${payload}\t,"last":${last}}`,
  }))

  test('the text member is what was put in, and the rest is what JSON.parse gives', { timeout: TIMEOUT_MS }, () => {
    fc.assert(
      fc.property(body, ({ payload, text }) => {
        const value = readValue(text)
        expect(value['payload']).toEqual(new JsonText(payload))
        expect(isDeepStrictEqual({ ...value, payload: null }, { ...JSON.parse(text), payload: null })).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('readJson takes exactly what JSON.parse takes, repeats in the envelope aside, and never another value', {
    timeout: TIMEOUT_MS,
  }, () => {
    const everyKind: JsonShape = { ...claim, ...settlement, ...claims }
    const anyBody = body.chain(({ text }) =>
      fc.constantFrom(
        text,
        `{"claims" : [${text}, {"payload":0} ]}`,
        `{"error": {"detail" :${text} }, "result":${text}}`,
      ),
    )
    fc.assert(
      fc.property(
        anyBody.chain((text) => fc.array(mutationsOf(text), { minLength: 20, maxLength: 20 })),
        (mutations) => {
          for (const mutation of mutations) compareWithParse(mutation, everyKind)
        },
      ),
      { numRuns: 500 },
    )
  })

  function compareWithParse(text: string, shape: JsonShape): void {
    const parsed = parse(text)
    const reading = read(text, shape)
    expect(findJsonFault(text) === null).toBe(parsed.ok)
    if (!parsed.ok)
      expect(reading).toMatchObject({ ok: false, detail: expect.stringMatching(/not valid JSON|byte order mark/) })
    else if (!reading.ok) expect(reading.detail).toMatch(/named twice/)
    else expectSame(reading.value, parsed.value)
  }

  function parse(text: string): { ok: true; value: unknown } | { ok: false } {
    try {
      return { ok: true, value: JSON.parse(text) }
    } catch {
      return { ok: false }
    }
  }

  function expectSame(read: unknown, parsed: unknown): void {
    if (read instanceof JsonText) {
      expect(read.text).toBe(read.text.trim())
      expectSame(JSON.parse(read.text), parsed)
    } else if (read instanceof JsonRefusal) {
      expect(read.detail).toMatch(/named twice/)
    } else if (Array.isArray(read) && Array.isArray(parsed)) {
      expect(read.length).toBe(parsed.length)
      for (const [index, item] of read.entries()) expectSame(item, parsed[index])
    } else if (typeof read === 'object' && read !== null && typeof parsed === 'object' && parsed !== null) {
      expect(Object.keys(read)).toEqual(Object.keys(parsed))
      for (const [name, value] of Object.entries(read))
        expectSame(value, Object.getOwnPropertyDescriptor(parsed, name)?.value)
    } else {
      expect(Object.is(read, parsed)).toBe(true)
    }
  }
})
