import { expect, test } from 'vitest'
import { type ClassKept, coverageOf, verdictWithoutRecord, windowPlacesOf } from '../src/coverage.ts'
import type { ClassEra, WindowLoss } from '../src/placement.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const slackMs = 10_000
const now = Date.UTC(2026, 10, 30, 10)
const beganAt = now - 300 * dayMs
const firstSeenAt = now - 200 * dayMs

const inWindow = (windowMs: number, since = 0): ClassEra => ({ since, store: 'window', windowMs })
const inLedger = (since = 0): ClassEra => ({ since, store: 'ledger', windowMs: dayMs })
const held = (redisUntil: number | null, postgresUntil: number | null = null) => ({
  redisUntil,
  postgresUntil,
  ledgerHeld: false,
})

type Told = Partial<ClassKept> & { losses?: WindowLoss[]; unreachable?: boolean; firstSeenAt?: number }

function coverage(told: Told, at: number | null = null) {
  const { eras = [inLedger()], places = null, keysCompleteSince = null } = told
  const kept = {
    now,
    classes: new Map([['page', { eras, places, keysCompleteSince }]]),
    losses: told.losses ?? [],
  }
  const unreachable = new Set(told.unreachable ? ['page'] : [])
  const asked = { class: 'page', firstSeenAt: told.firstSeenAt ?? firstSeenAt }
  const [one] = coverageOf([asked], { beganAt, checkedAt: now, kept, unreachable }, at)
  if (one === undefined) throw new Error('one class is asked')
  return one
}

/** From which time on `never` is said, judged at its edge, to the ms. */
function edgeOf(told: Told): number {
  const { completeSince } = coverage(told)
  const verdict = (at: number) => verdictWithoutRecord([coverage(told, at)], { at, limited: true })
  expect([verdict(completeSince), verdict(completeSince - 1)]).toEqual(['never', 'unknown'])
  return completeSince
}

test('a window is complete for as long as it remembers, short of what clocks may differ', () => {
  const told = { eras: [inWindow(dayMs)], places: held(now + dayMs) } as const
  expect(edgeOf(told)).toBe(now - dayMs + slackMs)
  expect(coverage(told)).toMatchObject({ store: 'window', gap: { kind: 'window_over', windowMs: dayMs } })
})

test('a class younger than its window has forgotten nothing, one as old as it may have', () => {
  const told = { eras: [inWindow(dayMs)], places: held(now + dayMs) } as const
  const young = { ...told, firstSeenAt: now - dayMs + slackMs }
  expect(coverage(young)).toMatchObject({ completeSince: beganAt, gap: null })
  expect(coverage({ ...told, firstSeenAt: now - dayMs + slackMs - 1 }).gap).toMatchObject({ kind: 'window_over' })
})

test('a window no longer than what clocks may differ is never complete, and not ahead of time either', () => {
  const told = { eras: [inWindow(1000)], places: held(now + 1000) } as const
  expect(coverage(told, now)).toMatchObject({ completeSince: now, gap: { kind: 'window_over' } })
})

test('after a move to the ledger runs of the window are missing until its last record is over', () => {
  const moved = now - 10 * dayMs
  const eras = [inWindow(hourMs), inLedger(moved)] as const
  expect(edgeOf({ eras, places: held(moved + 2 * hourMs) })).toBe(moved + 2 * hourMs)
  expect(edgeOf({ eras, places: held(null, moved + 3 * hourMs) })).toBe(moved + 3 * hourMs)
  expect(edgeOf({ eras, places: held(now + 9 * dayMs) })).toBe(now - hourMs + slackMs)
  // Without a bound, until every process knows of the move.
  expect(edgeOf({ eras })).toBe(moved + slackMs)
})

test('after a move to a window the ledger goes on to be complete', () => {
  const moved = now - 2 * hourMs
  const eras = [inLedger(), inWindow(dayMs, moved)] as const
  expect(coverage({ eras, places: held(now + dayMs) })).toMatchObject({
    store: 'window',
    completeSince: beganAt,
    gap: null,
  })
  const longAgo = [inLedger(), inWindow(dayMs, now - 10 * dayMs)] as const
  expect(edgeOf({ eras: longAgo, places: held(now + dayMs) })).toBe(now - dayMs + slackMs)
})

test('what was granted under a shorter window is forgotten as early as that one says', () => {
  const grown = now - hourMs / 2
  const eras = [inWindow(hourMs), inWindow(30 * dayMs, grown)] as const
  expect(edgeOf({ eras, places: held(now + 30 * dayMs) })).toBe(now - hourMs + slackMs)
  const longAgo = [inWindow(hourMs), inWindow(30 * dayMs, now - 5 * dayMs)] as const
  expect(edgeOf({ eras: longAgo, places: held(now + 30 * dayMs) })).toBe(now - 5 * dayMs + slackMs)
})

test('a window that became shorter forgets as early as it says now', () => {
  const eras = [inWindow(30 * dayMs), inWindow(hourMs, now - 5 * hourMs)] as const
  expect(edgeOf({ eras, places: held(now + 30 * dayMs) })).toBe(now - hourMs + slackMs)
})

test('a window left for the ledger and taken up again is as old as the shorter of both', () => {
  const eras = [inWindow(hourMs), inLedger(now - 20 * dayMs), inWindow(2 * dayMs, now - 10 * dayMs)] as const
  expect(edgeOf({ eras, places: held(now + 2 * dayMs) })).toBe(now - 2 * dayMs + slackMs)
  const lately = [inWindow(hourMs), inLedger(now - 20 * dayMs), inWindow(2 * dayMs, now - hourMs / 2)] as const
  expect(edgeOf({ eras: lately, places: held(now + 2 * dayMs) })).toBe(now - hourMs + slackMs)
})

test('keys that retention may have forgotten are told with the time before which they settled', () => {
  const told = { keysCompleteSince: now - 30 * dayMs }
  expect(edgeOf(told)).toBe(now - 30 * dayMs + 1)
  expect(coverage(told)).toMatchObject({ store: 'ledger', gap: { kind: 'keys_forgotten' } })
  expect(coverage({ ...told, firstSeenAt: now - 30 * dayMs + 1 }).gap).toBeNull()
})

const loss = { class: null, cause: 'flushed', fromAt: now - 3 * hourMs, toAt: now - 2 * hourMs } as const
const flushed: WindowLoss = { ...loss, untilAt: now + dayMs, detail: null }

test('what Redis lost is missing for every class that had records there, and for no other', () => {
  const eras = [inWindow(dayMs)] as const
  const told = { eras, places: held(now + dayMs), losses: [flushed] }
  expect(edgeOf(told)).toBe(flushed.toAt + slackMs)
  expect(coverage(told).gap).toEqual({
    kind: 'window_lost',
    cause: 'flushed',
    fromAt: flushed.fromAt,
    toAt: flushed.toAt,
  })
  expect(edgeOf({ ...told, places: held(null, now + dayMs) })).toBe(now - dayMs + slackMs)
  expect(coverage({ losses: [flushed] }).gap).toBeNull()
  const left = [inWindow(dayMs), inLedger(now - 9 * dayMs)] as const
  expect(edgeOf({ ...told, eras: left, places: held(now - 8 * dayMs) })).toBe(now - 8 * dayMs)
})

test('a loss of one class is missing there alone, and an outage loses nothing', () => {
  const told = { eras: [inWindow(dayMs)], places: held(now + dayMs) } as const
  expect(edgeOf({ ...told, losses: [{ ...flushed, class: 'page' }] })).toBe(flushed.toAt + slackMs)
  expect(edgeOf({ ...told, losses: [{ ...flushed, class: 'other' }] })).toBe(now - dayMs + slackMs)
  expect(edgeOf({ ...told, losses: [{ ...flushed, class: 'page', cause: 'outage' }] })).toBe(now - dayMs + slackMs)
})

test('the latest of several reasons is the one that is told', () => {
  const told = { eras: [inWindow(dayMs)], places: held(now + dayMs) } as const
  const lost = { ...told, keysCompleteSince: now - 90 * dayMs, losses: [flushed] }
  expect(coverage(lost).gap).toMatchObject({ kind: 'window_lost' })
  expect(coverage({ ...lost, keysCompleteSince: now - 60_000 }).gap).toMatchObject({ kind: 'keys_forgotten' })
})

test('where a window can not be asked nothing is known, whatever the time asked', () => {
  const told = { eras: [inWindow(dayMs)], places: held(now + dayMs), unreachable: true } as const
  for (const at of [null, now - 1, now]) {
    expect(coverage({ ...told, firstSeenAt: now - 5 }, at)).toMatchObject({
      completeSince: now,
      gap: { kind: 'window_unreachable' },
    })
  }
})

test('a class is looked for in every window that its bounds reach to', () => {
  const places = (redisUntil: number | null, postgresUntil: number | null) =>
    windowPlacesOf({ eras: [inLedger()], places: held(redisUntil, postgresUntil), keysCompleteSince: null }, now)
  expect(places(null, null)).toEqual([])
  expect(places(now + 1, now + 1)).toEqual(['postgres', 'redis'])
  expect(places(now - slackMs + 1, now - slackMs)).toEqual(['redis'])
})
