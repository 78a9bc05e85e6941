import { expect, test } from 'vitest'
import type { z } from 'zod'
import {
  claimTokenField,
  classField,
  durationField,
  keyField,
  nameField,
  seqField,
  timeField,
} from '../src/text-fields.ts'

/** The first fault's message; undefined where the value is taken. */
function faultOf(field: z.ZodType, value: unknown): string | undefined {
  return field.safeParse(value).error?.issues[0]?.message
}

test('a sequence number is a decimal string or a number that is exact, and a string from then on', () => {
  for (const [given, kept] of [
    [0, '0'],
    [41, '41'],
    ['41', '41'],
    [2 ** 53 - 1, '9007199254740991'],
    ['9223372036854775807', '9223372036854775807'],
  ]) {
    expect(seqField.parse(given)).toBe(kept)
  }
  for (const given of [
    -1,
    1.5,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '-1',
    '01',
    '+1',
    '1.0',
    '',
    ' 1',
    null,
    true,
  ]) {
    expect(faultOf(seqField, given)).toBe(
      'must be a non-negative integer, as a decimal string or a number up to 2^53 - 1',
    )
  }
  expect(faultOf(seqField, '9223372036854775808')).toBe('must be at most 9223372036854775807')
  expect(faultOf(seqField, '9'.repeat(1000))).toMatch(/integer/)
})

test('a claim token is any UUID, kept in lower case', () => {
  expect(claimTokenField.parse('ABCDEF00-0000-0000-0000-00000000000A')).toBe('abcdef00-0000-0000-0000-00000000000a')
  for (const given of ['', 'x', 'abcdef00-0000-0000-0000-00000000000', 'abcdef00000000000000000000000000', 7, null]) {
    expect(faultOf(claimTokenField, given)).toBe('must be a UUID')
  }
  expect(faultOf(claimTokenField, undefined)).toBe('required')
})

test('a class holds no star, which is kept for patterns; a key may', () => {
  expect(faultOf(classField, 'refund.issued')).toBeUndefined()
  expect(faultOf(classField, 'refund.*')).toMatch(/\*/)
  expect(faultOf(keyField, 'refund.*')).toBeUndefined()
})

test('names and keys count in bytes', () => {
  expect(faultOf(nameField, 'é'.repeat(100))).toBeUndefined()
  expect(faultOf(nameField, 'é'.repeat(101))).toBe('must be at most 200 bytes in UTF-8, not 202')
  expect(faultOf(keyField, '😀'.repeat(256))).toBeUndefined()
  expect(faultOf(keyField, '')).toBe('must not be empty')
  expect(faultOf(keyField, 7)).toBe('must be a string')
  expect(faultOf(keyField, undefined)).toBe('required')
})

test('a duration is whole milliseconds within its bounds', () => {
  const field = durationField(1000, 86_400_000)
  for (const given of [1000, 86_400_000]) expect(faultOf(field, given)).toBeUndefined()
  for (const given of [999, 86_400_001, 1000.5, '1000', null, Number.NaN, 1e300]) {
    expect(faultOf(field, given)).toBe('must be a whole number of milliseconds from 1000 to 86400000')
  }
  expect(faultOf(field, undefined)).toBe('required')
})

test('a time is RFC 3339 in UTC and exists', () => {
  for (const given of ['2026-11-30T10:00:00.000Z', '2028-02-29T23:59:59Z'])
    expect(faultOf(timeField, given)).toBeUndefined()
  for (const given of ['2026-02-30T10:00:00Z', '2026-11-30T10:00:00+01:00', '2026-11-30', 'today', '', 0]) {
    expect(faultOf(timeField, given)).toMatch(/RFC 3339/)
  }
})
