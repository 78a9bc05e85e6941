import { expect, test } from 'vitest'
import { coverageOf } from '../src/coverage.ts'
import { type LookupFacts, lookupSentence } from '../src/lookup-sentence.ts'

const began = Date.UTC(2026, 2, 1)
const at = Date.UTC(2026, 2, 5)
const checkedAt = Date.UTC(2026, 10, 30, 10)
const early = { class: 'orders', firstSeenAt: began + 1000 }
const late = { class: 'refunds', firstSeenAt: Date.UTC(2026, 2, 6) }

function facts(known: Partial<LookupFacts>): LookupFacts {
  const coverage = coverageOf([early, late], began, known.at ?? null)
  const base = { question: 'order:88', verdict: 'never', found: null, at: null, beganAt: began, checkedAt } as const
  return { ...base, coverage, scope: null, outOfScope: false, ...known }
}

const none = 'o record has the key, id or reference "order:88"'
const asOf = '(as of 2026-11-30 10:00:00 UTC).'

test('never names since when every class asked is complete', () => {
  expect(lookupSentence(facts({}))).toBe(
    `N${none}: it never ran here; 2 classes are complete since 2026-03-01 00:00:00 UTC, when this ledger began ${asOf}`,
  )
})

test('never about a time names that time too', () => {
  const coverage = coverageOf([early], began, at)
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
  const coverage = coverageOf([late, { class: 'invoices', firstSeenAt: null }], began, at)
  expect(lookupSentence(facts({ at, verdict: 'unknown', coverage }))).toContain(
    'the time asked, 2 classes had not been claimed here, so an earlier run would not be known',
  )
})

test('unknown about a class that was never claimed does not claim to know when it began', () => {
  const coverage = coverageOf([{ class: 'invoices', firstSeenAt: null }], began, at)
  expect(lookupSentence(facts({ at, verdict: 'unknown', coverage }))).toContain(
    'the time asked, invoices had not been claimed here, so an earlier run would not be known',
  )
})

test('unknown about a time before the ledger says when it began', () => {
  const before = began - 1000
  expect(lookupSentence(facts({ at: before, verdict: 'unknown', coverage: coverageOf([early], began, before) }))).toBe(
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
  const found = { sentence: 'orders "order:88" ran once: shop completed it at noon.', others: 2, more: false }
  expect(lookupSentence(facts({ verdict: 'ran', found }))).toBe(
    'orders "order:88" ran once: shop completed it at noon; 2 other records match (as of 2026-11-30 10:00:00 UTC; 2 classes asked, complete since 2026-03-01 00:00:00 UTC).',
  )
  expect(lookupSentence(facts({ verdict: 'ran', found: { ...found, more: true } }))).toContain(
    '; at least 2 other records match (',
  )
})
