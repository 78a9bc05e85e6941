import { expect, test } from 'vitest'
import { type Completion, type Duplicate, type Grant, type History, type Standing, violations } from './history.ts'

const first: Grant = {
  key: 'k',
  id: 'rec_1',
  token: 'a',
  generation: 1,
  attempt: 1,
  fencingToken: 10,
  leaseMs: 1000,
  invokedAt: 0,
  answeredAt: 5,
}
const second: Grant = { ...first, token: 'b', attempt: 2, fencingToken: 11, invokedAt: 1500, answeredAt: 1510 }
const completion: Completion = { key: 'k', token: 'b', result: '"b"', invokedAt: 1600, answeredAt: 1610 }
const duplicate: Duplicate = { key: 'k', result: '"b"', answeredAt: 1700 }
const standing: Standing = { key: 'k', state: 'completed', generation: 1, attempt: 2, result: '"b"' }

function check(history: Partial<History>, stands: Standing | null = standing): string[] {
  const whole = { grants: [first, second], completions: [completion], duplicates: [duplicate], ...history }
  return violations(whole, new Map(stands === null ? [] : [['k', stands]])).map((fault) => fault.slice(0, 2))
}

test('a history in which everything promised was kept has no violation', () => {
  expect(check({})).toEqual([])
  expect(check({ grants: [first, first, second] })).toEqual([])
  expect(check({ completions: [], duplicates: [] }, { ...standing, state: 'claimed', result: 'null' })).toEqual([])
})

test.each<[string, Partial<History>, Standing | null, string]>([
  ['two tokens for one attempt', { grants: [first, { ...second, attempt: 1 }] }, standing, 'S1'],
  ['a grant during a live lease', { grants: [first, { ...second, invokedAt: 900, answeredAt: 999 }] }, standing, 'S2'],
  ['a complete of a displaced token', { completions: [{ ...completion, token: 'a' }] }, standing, 'S3'],
  ['another result in a duplicate', { duplicates: [{ ...duplicate, result: '"a"' }] }, standing, 'S4'],
  ['another result that stands', {}, { ...standing, result: '"a"' }, 'S4'],
  ['a grant after the complete', { grants: [first, { ...second, invokedAt: 1650, answeredAt: 1660 }] }, standing, 'S5'],
  ['a record that is gone', {}, null, 'S6'],
  ['a complete that is gone', {}, { ...standing, state: 'claimed' }, 'S6'],
  ['a grant that is gone', { completions: [], duplicates: [] }, { ...standing, state: 'claimed', attempt: 1 }, 'S6'],
  ['one token with two attempts', { grants: [first, { ...second, token: 'a' }] }, standing, 'S8'],
  ['an attempt that steps back', { grants: [{ ...first, attempt: 3 }, second] }, { ...standing, attempt: 3 }, 'S9'],
  ['a fencing token that steps back', { grants: [{ ...first, fencingToken: 12 }, second] }, standing, 'S9'],
])('the observer sees %s', (_, history, stands, promise) => {
  expect(check(history, stands)).toContain(promise)
})
