import { describe, expect, test } from 'vitest'
import { type AskedClass, type ClassKept, type Coverage, coverageOf } from '../src/coverage.ts'
import { type LookupFacts, lookupSentence } from '../src/lookup-sentence.ts'
import type { WindowLoss } from '../src/placement.ts'

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
  const kept = { now: checkedAt, classes: new Map(), losses: [] }
  return coverageOf(classes, { beganAt: began, checkedAt, kept, unreachable: new Set() }, time)
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
    `N${none}: an event of 2026-03-05 00:00:00 UTC, the time asked, never ran here; 1 class is complete since 2026-03-01 00:00:00 UTC, when this ledger began ${asOf}`,
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

describe('where a class is not known in full', () => {
  const dayMs = 86_400_000
  const page = { class: 'page.viewed', firstSeenAt: began }
  const seen = { class: 'page.seen', firstSeenAt: began }
  const era = { since: 0, store: 'window', windowMs: dayMs } as const
  const places = { redisUntil: checkedAt + dayMs, postgresUntil: null, ledgerHeld: false }
  const window: ClassKept = { eras: [era], places, keysCompleteSince: null }
  const pruned: ClassKept = {
    eras: [{ ...era, store: 'ledger' }],
    places: null,
    keysCompleteSince: Date.UTC(2026, 8, 1),
  }

  function knownAs(
    kept: Record<string, ClassKept>,
    more: { losses?: WindowLoss[]; unreachable?: string[]; at?: number | null } = {},
  ): Coverage[] {
    const classes = [early, ...[page, seen].filter(({ class: name }) => name in kept)]
    const facts = { now: checkedAt, classes: new Map(Object.entries(kept)), losses: more.losses ?? [] }
    const unreachable = new Set(more.unreachable ?? [])
    return coverageOf(classes, { beganAt: began, checkedAt, kept: facts, unreachable }, more.at ?? null)
  }

  const complete = '1 class is complete since 2026-03-01 00:00:00 UTC, when this ledger began'
  const unknown = (coverage: readonly Coverage[], time: number | null = null) =>
    lookupSentence(facts({ verdict: 'unknown', coverage, at: time }))

  test('a window names itself and what it would have forgotten, beside the classes that are complete', () => {
    expect(unknown(knownAs({ 'page.viewed': window }))).toBe(
      `N${none}, yet whether it ran is unknown: ${complete}, but in page.viewed, a 24 h window, a run before 2026-11-29 10:00:10 UTC would be forgotten ${asOf}`,
    )
    expect(unknown(knownAs({ 'page.viewed': window, 'page.seen': window }))).toContain(
      `${complete}, but in 2 classes kept in windows a run before 2026-11-29 10:00:10 UTC may be forgotten (`,
    )
  })

  test('about a time it names that time, and every reason', () => {
    const coverage = knownAs({ 'page.viewed': window, 'page.seen': pruned }, { at })
    expect(unknown(coverage, at)).toContain(
      'at 2026-03-05 00:00:00 UTC, the time asked, 1 class was complete, but in page.viewed, a 24 h window, a run before 2026-11-29 10:00:10 UTC would be forgotten; in page.seen a run before 2026-09-01 00:00:01 UTC may be forgotten, as retention says (',
    )
  })

  test('a window that can not be asked, and one that lost what it held, say so', () => {
    expect(unknown(knownAs({ 'page.viewed': window }, { unreachable: ['page.viewed'] }))).toContain(
      `${complete}, but the window of page.viewed can not be asked now (`,
    )
    const span = { fromAt: Date.UTC(2026, 10, 30, 8), toAt: Date.UTC(2026, 10, 30, 9), untilAt: checkedAt + dayMs }
    const losses: WindowLoss[] = [{ class: null, cause: 'flushed', ...span, detail: null }]
    expect(unknown(knownAs({ 'page.viewed': window }, { losses }))).toContain(
      'in page.viewed a run before 2026-11-30 09:00:10 UTC may be lost, as Redis was flushed between 2026-11-30 08:00:00 UTC and 2026-11-30 09:00:00 UTC (',
    )
  })

  test('never about a time within the window tells since when each is complete', () => {
    const time = checkedAt - 60_000
    const coverage = knownAs({ 'page.viewed': window }, { at: time })
    expect(lookupSentence(facts({ at: time, coverage }))).toContain(
      `an event of 2026-11-30 09:59:00 UTC, the time asked, never ran here; ${complete}, and page.viewed, a 24 h window, since 2026-11-29 10:00:10 UTC (`,
    )
  })

  test('a record found elsewhere does not hide it', () => {
    const found = { sentence: 'orders "order:88" ran once: shop completed it at noon.', count: 1, more: false }
    const coverage = knownAs({ 'page.viewed': window })
    expect(lookupSentence(facts({ verdict: 'ran', found, coverage }))).toContain(
      '; 2 classes asked; 1 complete since 2026-03-01 00:00:00 UTC; in page.viewed, a 24 h window, a run before 2026-11-29 10:00:10 UTC would be forgotten).',
    )
  })
})
