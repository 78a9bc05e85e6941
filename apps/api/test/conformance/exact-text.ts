import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { changed, inserted, standing } from './asked-of-store.ts'
import { changeOf, failing, granting, newRecord, noDetails } from './new-record.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const jsonTexts: Readonly<Record<string, string>> = {
  'a number beyond 2^53': '12345678901234567890',
  'numbers no double holds': '[1e400,-0,0.10,1.0,1e0,0.1234567890123456789012345678901234567890]',
  'members out of order': '{"b":1,"a":2,"10":3,"9":4}',
  'a member twice': '{"a":1,"a":2}',
  'an escaped NUL': '{"a\\u0000b":"\\u0000"}',
  'escaped lone surrogates': '["\\ud800","\\udc00x","\\udc00\\ud800"]',
  'escapes that need none': '"\\u0041\\/\\u00e9"',
  'white space': ' {\t"a" :\r\n [ 1 , 2 ] } ',
  null: 'null',
  'an empty string': '""',
  'characters beyond the BMP': '"😀 \u{10ffff} é é \u2028"',
  'names of Object.prototype': '{"__proto__":{"x":1},"constructor":null}',
  'SQL and array syntax': '"\'; -- $1 %s {a,\\"b\\"} NULL \\\\x00"',
  'a quarter of a megabyte': JSON.stringify('é'.repeat(131_000)),
}

const oddTexts: Readonly<Record<string, string>> = {
  'slashes and percent signs': 'a/b//c/%2F%2f/../?x=1#y',
  'an emoji with joiners': '👩‍👩‍👧 order',
  ['__proto__']: '__proto__',
  'the word NULL': 'NULL',
  'quotes and backslashes': '"\'\\"\\\\\'',
  'array syntax': '{a,"b",NULL}',
  'LIKE wildcards': '%_\\%',
  'spaces at both ends': ' order ',
  'a no-break space': '\u00a0',
  'a character without a code': '\u{e0fff}\uffff',
}

/** What text survives a store: JSON to the character, names and keys to the byte. */
export function exactText(opened: StoreUnderTest): void {
  describe('JSON comes back to the character', () => {
    test.each(Object.entries(jsonTexts))('%s, as result, error and payload', async (_, text) => {
      const { store } = opened()
      const details = { ...noDetails, payload: text }
      const first = await inserted(store, newRecord({ details }))
      const failed = await changed(store, changeOf(first, { ...failing(first).record, error: text }))
      const granted = await changed(store, granting(failed))
      const { digest, claimToken } = granted
      const [completed] = await store.completeClaimed([{ digest, claimToken, consumer: null, result: text }])
      await store.keepLateCompletions([{ digest, claimToken: first.claimToken, result: text }])
      expect(failed.error).toBe(text)
      expect(completed?.record.result).toBe(text)
      expect((await standing(store, digest)).result).toBe(text)
      const { rows } = await store.readFull([digest])
      expect(rows[0]?.details.payload).toBe(text)
      expect(rows[0]?.record.result).toBe(text)
      const history = await store.readHistory(digest)
      expect(history.attempts.map(({ error }) => error)).toEqual([text])
      expect(history.lateCompletions.map(({ result }) => result)).toEqual([text])
      const again = await changed(store, changeOf(await standing(store, digest), { result: text, cause: 'operator' }))
      expect(again.result).toBe(text)
    })

    test('a result of null is not the absence of one', async () => {
      const { store } = opened()
      const [one, two] = [await inserted(store, newRecord()), await inserted(store, newRecord())]
      const done = await store.completeClaimed(
        [one, two].map(({ digest, claimToken }, at) => ({
          digest,
          claimToken,
          consumer: null,
          result: at ? 'null' : null,
        })),
      )
      expect(done.map((item) => item?.record.result)).toEqual([null, 'null'])
      expect((await standing(store, one.digest)).result).toBeNull()
      expect((await standing(store, two.digest)).result).toBe('null')
    })
  })

  describe('names come back to the byte', () => {
    test.each(Object.entries(oddTexts))('%s, in every name of a record', async (_, text) => {
      const { store } = opened()
      const name = `${text}${randomUUID()}${text}`
      const details = { ...noDetails, refs: [name, text], source: name }
      const fingerprint = { kind: 'given', value: name } as const
      const names = { key: name, class: name, consumer: name, owner: name, fingerprint, details }
      const record = await inserted(store, newRecord(names))
      expect(record).toMatchObject({ key: name, class: name, consumer: name, owner: name, fingerprint })
      expect(await standing(store, record.digest)).toEqual(record)
      const { rows } = await store.readFull([record.digest])
      expect(rows[0]).toEqual({ record, details, duplicates: null })
    })

    test('a key of 1024 bytes stands, and one that differs in its last byte is another', async () => {
      const { store } = opened()
      const start = randomUUID()
      const keys = ['x', 'y'].map((end) => `${start.padEnd(1020, '-')}é-${end}`)
      const records = await store.insertIfAbsent(keys.map((key) => newRecord({ key })))
      expect(records.map(({ record }) => record.key)).toEqual(keys)
      expect(records.map((outcome) => outcome.inserted)).toEqual([true, true])
    })

    test('keys that differ in case, spaces or Unicode form only are different records', async () => {
      const { store } = opened()
      const start = randomUUID()
      const keys = ['order', 'Order', 'order ', ' order', 'caf\u00e9', 'cafe\u0301'].map((end) => start + end)
      const records = await store.insertIfAbsent(keys.map((key) => newRecord({ key })))
      expect(records.filter((outcome) => outcome.inserted)).toHaveLength(keys.length)
      expect(new Set(records.map(({ record }) => record.digest)).size).toBe(keys.length)
    })

    test('fingerprints come back with their kind and the rule they were computed by', async () => {
      const { store } = opened()
      const fingerprints = [
        { kind: 'computed', value: `sha256:${'09af'.repeat(16)}` },
        { kind: 'computed', value: `sha256:${'09af'.repeat(16)}`, rule: '0a1b2c3d' },
        { kind: 'given', value: `sha256:${'09af'.repeat(16)}` },
        { kind: 'given', value: 'é'.repeat(100) },
        null,
      ] as const
      for (const fingerprint of fingerprints) {
        const record = await inserted(store, newRecord({ fingerprint }))
        expect(record.fingerprint).toEqual(fingerprint)
        expect((await standing(store, record.digest)).fingerprint).toEqual(fingerprint)
      }
    })

    test.each(['0', '41', '9007199254740993', '9223372036854775807'])('the number %s keeps its digits', async (seq) => {
      const { store } = opened()
      const occurredAt = Date.UTC(2026, 1, 28, 23, 59, 59, 999)
      const record = await inserted(store, newRecord({ details: { ...noDetails, source: 's', seq, occurredAt } }))
      const { rows } = await store.readFull([record.digest])
      expect(rows[0]?.details).toEqual({ ...noDetails, source: 's', seq, occurredAt })
    })
  })
}
