import { expect, test } from 'vitest'
import { type AskedClass, type Coverage, coverageOf } from '../src/coverage.ts'
import { type LookupFacts, lookupSentence } from '../src/lookup-sentence.ts'

const began = Date.UTC(2026, 2, 1)
const at = Date.UTC(2026, 2, 5)
const checkedAt = Date.UTC(2026, 10, 30, 10)
const early = { class: 'orders', firstSeenAt: began + 1000 }
const late = { class: 'refunds', firstSeenAt: Date.UTC(2026, 2, 6) }

function facts(known: Partial<LookupFacts>): LookupFacts {
  const coverage = covered([early, late], known.at ?? null)
  const base = { question: 'order:88', verdict: 'never', found: null, at: null, beganAt: began, checkedAt } as const
  const only = { class: null, consumer: null }
  return { ...base, coverage, only, scope: null, outOfScope: false, ...known }
}

function covered(classes: readonly AskedClass[], time: number | null): Coverage[] {
  return coverageOf(classes, { beganAt: began, checkedAt }, time)
}

const none = 'o record has the key, id or reference "order:88"'
const asOf = '(as of 2026-11-30 10:00:00 UTC).'

test('never names since when every class asked is complete', () => {
  expect(lookupSentence(facts({}))).toBe(
    `N${none}: it never ran here; 2 classes are complete since 2026-03-01 00:00:00 UTC, when this ledger began ${asOf}`,
  )
})

test('never about a time names that time too', () => {
  const coverage = covered([early], at)
  expect(lookupSentence(facts({ at, coverage }))).toBe(
    `N${none}: it never ran here since 2026-03-05 00:00:00 UTC, the time asked; 1 class is complete since 2026-03-01 00:00:00 UTC, when this ledger began ${asOf}`,
  )
})

test('never on a ledger without claims says so', () => {
  expect(lookupSentence(facts({ coverage: [] }))).toBe(
    `N${none}: nothing was claimed since 2026-03-01 00:00:00 UTC, when this ledger began ${asOf}`,
  )
})

test('unknown counts the classes that are complete and names the one that is not', () => {
  expect(lookupSentence(facts({ at, verdict: 'unknown' }))).toBe(
    `N${none}, yet whether it ran is unknown: at 2026-03-05 00:00:00 UTC, the time asked, 1 class was complete, but refunds had not been claimed here, which began at 2026-03-06 00:00:00 UTC, so an earlier run would not be known ${asOf}`,
  )
})

test('unknown about several newer classes counts them', () => {
  const coverage = covered([late, { class: 'invoices', firstSeenAt: late.firstSeenAt }], at)
  expect(lookupSentence(facts({ at, verdict: 'unknown', coverage }))).toContain(
    'the time asked, 2 classes had not been claimed here, so an earlier run would not be known',
  )
})

test.each([
  {
    only: { class: 'invoices', consumer: null },
    limits: 'For the class invoices',
    why: 'the class invoices was never claimed here',
  },
  {
    only: { class: null, consumer: 'shopp' },
    limits: 'For the consumer shopp',
    why: 'the consumer shopp has never claimed here',
  },
  {
    only: { class: 'invoices', consumer: 'shop' },
    limits: 'For the consumer shop and the class invoices',
    why: 'the consumer shop has never claimed the class invoices here',
  },
])('a question limited to what never claimed is unknown, names its limits and says why: $limits', (asked) => {
  const { only, limits, why } = asked
  const unseen = only.class === null ? [] : [{ class: only.class, firstSeenAt: null }]
  for (const time of [null, at]) {
    const coverage = covered(unseen, time)
    expect(lookupSentence(facts({ at: time, verdict: 'unknown', coverage, only }))).toBe(
      `${limits}: n${none}, yet whether it ran is unknown: ${why} ${asOf}`,
    )
  }
})

test('a key that may read nothing that was ever claimed is told so', () => {
  const scope = { classes: ['refund.*'], consumer: null }
  expect(lookupSentence(facts({ scope, verdict: 'unknown', coverage: [] }))).toBe(
    `Within the class refund.*: n${none}, yet whether it ran is unknown: nothing that this key may read was ever claimed here ${asOf}`,
  )
})

test('unknown about a time that has not come says so', () => {
  const ahead = checkedAt + 60_000
  expect(lookupSentence(facts({ at: ahead, verdict: 'unknown' }))).toBe(
    `N${none}, yet whether it ran is unknown: 2026-11-30 10:01:00 UTC, the time asked, is still to come ${asOf}`,
  )
})

test('unknown about a time before the ledger says when it began', () => {
  const before = began - 1000
  expect(lookupSentence(facts({ at: before, verdict: 'unknown', coverage: covered([early], before) }))).toBe(
    `N${none}, yet whether it ran is unknown: this ledger began at 2026-03-01 00:00:00 UTC, after 2026-02-28 23:59:59 UTC, the time asked ${asOf}`,
  )
})

test('an answer limited to a scope names the scope', () => {
  const scope = { classes: ['refund.*', 'orders'], consumer: 'billing-worker' }
  expect(lookupSentence(facts({ scope }))).toContain(
    `Within the classes refund.*, orders for the consumer billing-worker: n${none}: it never ran here`,
  )
  expect(lookupSentence(facts({ scope, outOfScope: true, verdict: 'unknown', coverage: [] }))).toContain(
    'unknown: the class or consumer asked for lies outside what this key may read',
  )
})

test('a record found speaks for itself, with the others counted and the coverage behind it', () => {
  const found = { sentence: 'orders "order:88" ran once: shop completed it at noon.', count: 3, more: false }
  expect(lookupSentence(facts({ verdict: 'ran', found }))).toBe(
    'orders "order:88" ran once: shop completed it at noon; 2 other records match (as of 2026-11-30 10:00:00 UTC; 2 classes asked, complete since 2026-03-01 00:00:00 UTC).',
  )
  expect(lookupSentence(facts({ verdict: 'ran', found: { ...found, more: true } }))).toContain(
    '; at least 2 other records match (',
  )
  const only = { class: 'orders', consumer: null }
  expect(lookupSentence(facts({ verdict: 'ran', found: { ...found, count: 1 }, only }))).toMatch(
    /^For the class orders: orders "order:88" ran once: shop completed it at noon \(as of /,
  )
})

test('where no record found can decide, none is put forward', () => {
  const found = { sentence: null, count: 200, more: true }
  expect(lookupSentence(facts({ verdict: 'unknown', found }))).toBe(
    'At least 200 records have the key, id or reference "order:88" and none of them completed, yet whether one is running is unknown: more of them were claimed and not settled than one answer looks at (as of 2026-11-30 10:00:00 UTC; 2 classes asked, complete since 2026-03-01 00:00:00 UTC).',
  )
})
