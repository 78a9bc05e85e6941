import { type Action, actions } from '@ranbook/contract'
import { expect, test } from 'vitest'
import { coversClass, findWidening, seesEverything } from '../src/scope.ts'

test.each([
  { pattern: '*', name: 'refund.issued', covered: true },
  { pattern: '*', name: '*', covered: true },
  { pattern: 'refund.*', name: 'refund.issued', covered: true },
  { pattern: 'refund.*', name: 'refund.*', covered: true },
  { pattern: 'refund.*', name: 'refund.eu.*', covered: true },
  { pattern: 'refund.*', name: 'refund.', covered: false },
  { pattern: 'refund.*', name: 'refund*', covered: false },
  { pattern: 'refund.*', name: '*', covered: false },
  { pattern: 'refund.*', name: 'Refund.issued', covered: false },
  { pattern: 'refund.issued', name: 'refund.issued', covered: true },
  { pattern: 'refund.issued', name: 'refund.issued.twice', covered: false },
])('a scope of $pattern reaches $name: $covered', ({ pattern, name, covered }) => {
  expect(coversClass([pattern], name)).toBe(covered)
  expect(coversClass(['other', pattern], name)).toBe(covered)
})

test('an empty scope reaches nothing', () => {
  expect(coversClass([], 'refund.issued')).toBe(false)
})

test('only every class of every consumer is everything', () => {
  expect(seesEverything({ classes: ['refund.*', '*'], consumer: null })).toBe(true)
  expect(seesEverything({ classes: ['refund.*'], consumer: null })).toBe(false)
  expect(seesEverything({ classes: ['*'], consumer: 'billing' })).toBe(false)
})

const own = { actions: new Set<Action>(['read', 'admin']), classes: ['refund.*'], consumer: null }
const within = { actions: ['read'] as Action[], classes: ['refund.issued'], consumer: null }

test.each([
  { what: 'less of all', asked: within, widening: null },
  {
    what: 'the same',
    asked: { actions: ['read', 'admin'] as Action[], classes: ['refund.*'], consumer: null },
    widening: null,
  },
  { what: 'one consumer of all', asked: { ...within, consumer: 'billing' }, widening: null },
  {
    what: 'another action',
    asked: { ...within, actions: ['read', 'operate'] as Action[] },
    widening: 'the action operate',
  },
  { what: 'a wider pattern', asked: { ...within, classes: ['refund.issued', '*'] }, widening: 'the class *' },
  { what: 'another class', asked: { ...within, classes: ['order.paid'] }, widening: 'the class order.paid' },
])('a key of admin and read on refund.* that mints $what: $widening', ({ asked, widening }) => {
  expect(findWidening(own, asked)).toBe(widening)
})

test('a key of one consumer mints keys of that consumer only', () => {
  const bound = { actions: new Set(actions), classes: ['*'], consumer: 'billing' }
  expect(findWidening(bound, { ...within, consumer: 'billing' })).toBeNull()
  expect(findWidening(bound, { ...within, consumer: 'mailer' })).toBe('the consumer mailer')
  expect(findWidening(bound, { ...within, consumer: null })).toBe('every consumer')
})
