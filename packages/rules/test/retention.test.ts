import { expect, test } from 'vitest'
import { dueUntil, newlyDue } from '../src/retention.ts'

const now = 1_000_000
const kept = { details_retention_ms: null, key_retention_ms: null }

test('a record is due once it has been settled for as long as the policy says, and not 1 ms before', () => {
  expect(dueUntil(1000, now)).toBe(now - 1000)
})

test.each([null, now, now + 1, Number.MAX_SAFE_INTEGER])('nothing is due where the retention is %s ms', (ms) => {
  expect(dueUntil(ms, now)).toBe(0)
})

test.each([
  { present: kept, future: kept, details: null, keys: null },
  { present: kept, future: { ...kept, details_retention_ms: 10 }, details: [0, now - 10], keys: null },
  { present: kept, future: { ...kept, key_retention_ms: 10 }, details: null, keys: [0, now - 10] },
  {
    present: kept,
    future: { details_retention_ms: 10, key_retention_ms: 30 },
    details: [now - 30, now - 10],
    keys: [0, now - 30],
  },
  { present: kept, future: { details_retention_ms: 30, key_retention_ms: 10 }, details: null, keys: [0, now - 10] },
  {
    present: { details_retention_ms: 20, key_retention_ms: 40 },
    future: { details_retention_ms: 10, key_retention_ms: 30 },
    details: [now - 20, now - 10],
    keys: [now - 40, now - 30],
  },
  { present: { details_retention_ms: 10, key_retention_ms: 30 }, future: kept, details: null, keys: null },
  {
    present: { ...kept, key_retention_ms: 30 },
    future: { details_retention_ms: 10, key_retention_ms: 60 },
    details: [now - 30, now - 10],
    keys: null,
  },
])('$future after $present makes due what the present one leaves, each record once', (row) => {
  const span = (bounds: number[] | null) => (bounds === null ? null : { from: bounds[0], to: bounds[1] })
  expect(newlyDue(row.present, row.future, now)).toEqual({ details: span(row.details), keys: span(row.keys) })
})
