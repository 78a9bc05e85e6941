import { verdicts } from '@ranbook/contract'
import { expect, test } from 'vitest'
import { coverageOf, overallVerdict, verdictWithoutRecord } from '../src/coverage.ts'

const began = 1_000_000
const checkedAt = began + 20_000
const known = {
  beganAt: began,
  checkedAt,
  kept: { now: checkedAt, classes: new Map(), losses: [] },
  unreachable: new Set<string>(),
}
const orders = { class: 'orders', firstSeenAt: began + 500 }
const refunds = { class: 'refunds', firstSeenAt: began + 9000 }
const unseen = { class: 'unseen', firstSeenAt: null }

const cases = [
  { asked: 'since the ledger began', classes: [orders, refunds], at: null, verdict: 'never' },
  { asked: 'since the ledger began, with nothing claimed yet', classes: [], at: null, verdict: 'never' },
  { asked: 'about names that never claimed', classes: [], at: null, limited: true, verdict: 'unknown' },
  { asked: 'about a class that was never claimed', classes: [unseen], at: null, limited: true, verdict: 'unknown' },
  {
    asked: 'about the ms in which the only class was first claimed',
    classes: [orders],
    at: began + 500,
    verdict: 'never',
  },
  { asked: 'about the ms before it', classes: [orders], at: began + 499, verdict: 'unknown' },
  {
    asked: 'about a time that one class of two reaches',
    classes: [orders, refunds],
    at: began + 500,
    verdict: 'unknown',
  },
  { asked: 'about a class that was never claimed at a time', classes: [unseen], at: began + 500, verdict: 'unknown' },
  { asked: 'about the ms in which it is asked', classes: [orders], at: known.checkedAt, verdict: 'never' },
  { asked: 'about a time that has not come', classes: [orders], at: known.checkedAt + 1, verdict: 'unknown' },
  { asked: 'about a time before the ledger', classes: [orders], at: began - 1, verdict: 'unknown' },
  { asked: 'about a time at which no class was in use', classes: [], at: began, verdict: 'unknown' },
]

test.each(cases)('without a record, asked $asked: $verdict', ({ classes, at, limited = false, verdict }) => {
  expect(verdictWithoutRecord(coverageOf(classes, known, at), { at, limited })).toBe(verdict)
})

const inLedger = { store: 'ledger', completeSince: began, limit: null }

test('coverage says why a class does not reach the time asked', () => {
  expect(coverageOf([orders, refunds], known, began + 500)).toEqual([
    { ...inLedger, class: 'orders', gap: null },
    { ...inLedger, class: 'refunds', gap: { kind: 'class_newer', firstSeenAt: began + 9000 } },
  ])
  expect(coverageOf([orders], known, began - 1)).toEqual([
    { ...inLedger, class: 'orders', gap: { kind: 'ledger_newer' } },
  ])
  expect(coverageOf([orders], known, known.checkedAt + 1)).toEqual([
    { ...inLedger, class: 'orders', gap: { kind: 'time_ahead' } },
  ])
  for (const at of [null, began - 1, began + 1]) {
    expect(coverageOf([unseen], known, at)).toEqual([{ ...inLedger, class: 'unseen', gap: { kind: 'never_claimed' } }])
  }
})

test('the overall verdict is the heaviest given, in the order of the protocol', () => {
  const order = [
    'ran_again',
    'ran',
    'ran_details_erased',
    'running',
    'interrupted',
    'held',
    'failed',
    'dead',
    'ready',
    'skipped',
    'unknown',
    'never',
  ] as const
  expect([...order].sort()).toEqual([...verdicts].sort())
  for (const [at, heavier] of order.entries()) {
    for (const lighter of order.slice(at)) {
      expect(overallVerdict([lighter, heavier])).toBe(heavier)
    }
  }
  expect(() => overallVerdict([])).toThrow()
})
