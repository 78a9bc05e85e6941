import { type PolicyInput, policySchema } from '@ranbook/contract'
import { describe, expect, test } from 'vitest'
import { type ClassEra, movingMs, placementOf, storeChanges } from '../src/placement.ts'

const now = 1_000_000_000
const nowhere = { redisUntil: null, postgresUntil: null, ledgerHeld: false }
const era = (store: ClassEra['store'], ageMs: number): ClassEra => ({ since: now - ageMs, store, windowMs: 60_000 })

describe('a class', () => {
  test('that never moved is granted where its policy says, and nothing is asked before', () => {
    const known = { eras: [], places: null }
    expect(placementOf('ledger', 'redis', known, now)).toEqual({ older: [], grant: 'ledger', movingUntil: null })
    expect(placementOf('window', 'redis', known, now)).toEqual({ older: [], grant: 'redis', movingUntil: null })
    expect(placementOf('window', 'postgres', known, now)).toEqual({ older: [], grant: 'postgres', movingUntil: null })
  })

  test.each([
    ['ledger', 'redis', ['postgres', 'redis']],
    ['window', 'redis', ['ledger', 'postgres']],
    ['window', 'postgres', ['ledger', 'redis']],
  ] as const)('of the %s, windows in %s, asks every other place that may still hold it: %j', (store, place, older) => {
    const places = { redisUntil: now + 1, postgresUntil: now + 1, ledgerHeld: true }
    expect(placementOf(store, place, { eras: [], places }, now).older).toEqual(older)
  })

  test('asks a place no longer once its bound is over', () => {
    const places = { ...nowhere, redisUntil: now, postgresUntil: now - 1 }
    expect(placementOf('ledger', 'redis', { eras: [], places }, now).older).toEqual([])
  })

  test.each([
    ['ledger', 'window'],
    ['window', 'ledger'],
  ] as const)('moves from %s to %s for ten seconds, and then no more', (from, to) => {
    const at = (ageMs: number) => {
      const eras = [era(from, 90_000), era(to, ageMs)]
      return placementOf(to, 'redis', { eras, places: nowhere }, now).movingUntil
    }
    expect(at(0)).toBe(now + movingMs)
    expect(at(movingMs - 1)).toBe(now + 1)
    expect(at(movingMs)).toBeNull()
  })

  test('does not move where only its window changed, nor where its first era begins', () => {
    expect(
      placementOf('window', 'redis', { eras: [era('window', 90_000), era('window', 5)], places: null }, now),
    ).toMatchObject({ movingUntil: null })
    expect(placementOf('window', 'redis', { eras: [era('window', 5)], places: null }, now).movingUntil).toBeNull()
  })

  test('is left alone by an era that these policies do not know yet', () => {
    // Policies and eras are read in one snapshot, so this is a pattern that a newer version wrote; it claims nothing.
    const eras = [era('ledger', 90_000), era('window', 5)]
    expect(placementOf('ledger', 'redis', { eras, places: null }, now).movingUntil).toBeNull()
  })
})

describe('a change of policies', () => {
  const named = (policies: Record<string, PolicyInput>) =>
    Object.entries(policies).map(([name, given]) => ({ name, policy: policySchema.parse(given) }))
  const changed = (before: Record<string, PolicyInput>, after: Record<string, PolicyInput>) =>
    storeChanges(['page.viewed', 'page', 'refund.issued'], named(before), named(after)).map(
      ({ class: name, before: from, after: to }) =>
        `${name}: ${from.store} ${from.windowMs} → ${to.store} ${to.windowMs}`,
    )

  test('moves the classes it governs, and those alone', () => {
    expect(changed({}, { 'page.*': { store: 'window' } })).toEqual(['page.viewed: ledger 86400000 → window 86400000'])
    expect(changed({ 'page.*': { store: 'window' } }, {})).toEqual(['page.viewed: window 86400000 → ledger 86400000'])
    expect(changed({}, { '*': { store: 'window' }, page: {} })).toEqual([
      'page.viewed: ledger 86400000 → window 86400000',
      'refund.issued: ledger 86400000 → window 86400000',
    ])
  })

  test('counts where a more specific policy comes or goes', () => {
    const wide = { '*': { store: 'window' } } as const
    expect(changed(wide, { ...wide, page: {} })).toEqual(['page: window 86400000 → ledger 86400000'])
    expect(changed({ ...wide, page: { store: 'window' } }, wide)).toEqual([])
  })

  test('of a window alone counts for windows alone', () => {
    const [before, after] = [{ store: 'window' }, { store: 'window', window_ms: 5000 }] as const
    expect(changed({ page: before }, { page: after })).toEqual(['page: window 86400000 → window 5000'])
    expect(changed({ page: {} }, { page: { window_ms: 5000 } })).toEqual([])
  })

  test('to or from what this version can not read changes nothing', () => {
    const unreadable = [{ name: '*', policy: null }]
    expect(storeChanges(['page'], unreadable, named({ '*': { store: 'window' } }))).toEqual([])
    expect(storeChanges(['page'], named({ '*': { store: 'window' } }), unreadable)).toEqual([])
  })
})
