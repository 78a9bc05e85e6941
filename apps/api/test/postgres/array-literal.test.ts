import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesArray, plainArray, textArray, timeArray } from '../../src/stores/postgres/array-literal.ts'
import { storedTime } from '../../src/stores/postgres/stored-fields.ts'
import { migratedDatabase } from './migrated-database.ts'

const opened = migratedDatabase()

/** What Postgres makes of an array literal, element by element, each as text. */
async function elementsOf(literal: string | null, type: string): Promise<(string | null)[]> {
  const rows = await opened().sql.unsafe(`SELECT u::text FROM unnest($1::text::${type}[]) AS u`, [literal]).values()
  return rows.map(([text]) => text)
}

const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\u0000', ''))

test('every text arrives as it was sent, whatever stands in it', async () => {
  const texts = fc.array(fc.option(text), { minLength: 1, maxLength: 8 })
  const odd = ['NULL', 'null', '', ' ', '{}', '"', '\\', '\\"', ',', '{"a":"\\u0000"}', '\t\n', '😀', "'"]
  await fc.assert(
    fc.asyncProperty(texts, async (values) => {
      expect(await elementsOf(textArray([...values, '']), 'text')).toEqual([...values, ''])
    }),
    { numRuns: 200 },
  )
  expect(await elementsOf(textArray(odd), 'text')).toEqual(odd)
})

test('every time of the years 1 to 9999 arrives to the millisecond', async () => {
  const times = fc.array(
    fc.integer({ min: Date.UTC(2000) - 1999 * 365.25 * 86_400_000, max: Date.UTC(9999, 11, 31) }),
    {
      minLength: 1,
      maxLength: 50,
    },
  )
  await fc.assert(
    fc.asyncProperty(times, async (values) => {
      const rows = await opened()
        .sql.unsafe(`SELECT date_part('epoch', to_timestamp(u)::timestamptz(3)) FROM unnest($1::text::float8[]) AS u`, [
          timeArray(values),
        ])
        .values()
      expect(rows.map(([seconds]) => storedTime(seconds as number))).toEqual(values)
    }),
    { numRuns: 100 },
  )
})

test('numbers, UUIDs and bytes arrive, and what is missing stays missing', async () => {
  expect(await elementsOf(plainArray([1, null, '9223372036854775807']), 'bigint')).toEqual([
    '1',
    null,
    '9223372036854775807',
  ])
  expect(await elementsOf(plainArray(['00112233445566778899aabbccddeeff']), 'uuid')).toEqual([
    '00112233-4455-6677-8899-aabbccddeeff',
  ])
  expect(await elementsOf(bytesArray(['', '00ff', null]), 'bytea')).toEqual(['\\x', '\\x00ff', null])
})

test('a column without a value travels as nothing at all', () => {
  expect([plainArray([null, null]), textArray([null]), bytesArray([null]), timeArray([null])]).toEqual([
    null,
    null,
    null,
    null,
  ])
})
