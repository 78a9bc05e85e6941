import { type LookupView, lookupResponseSchema } from '@ranbook/contract'
import { expect, test } from 'vitest'
import { coldApp } from './cold-app.ts'

const hourMs = 3_600_000
const startedAt = Date.now()
const ago = (ms: number): string => new Date(startedAt - ms).toISOString()

const app = await coldApp(
  (sql) => sql`UPDATE setting SET value = to_json(${ago(30 * 24 * hourMs)}::text) WHERE name = 'ledger_began_at'`,
)
const { request, claim, mint, sql } = app

async function ask(q: string, more: Record<string, string> = {}, key?: string): Promise<LookupView> {
  const query = new URLSearchParams({ q, ...more })
  const answer = await request('GET', `/v1/lookup?${query}`, key === undefined ? {} : { key })
  expect(answer.status).toBe(200)
  return lookupResponseSchema.parse(answer.json)
}

/** A class of this name, kept in a window of an hour and seen by its first claim. */
async function windowClass(name: string): Promise<void> {
  const stored = await request('PUT', `/v1/classes/${name}`, { body: { store: 'window', window_ms: hourMs } })
  expect(stored.status).toBe(201)
  await claim({ class: name, consumer: 'one', key: 'first' })
}

/** As if the class had been claimed for that long. */
async function seenFor(name: string, ms: number): Promise<void> {
  await sql`UPDATE class_seen SET first_seen_at = ${ago(ms)} WHERE class = ${name}`
}

const settle = (made: { id: string; claim_token: string }, verb: string, more: object = {}) =>
  request('POST', `/v1/claims/${made.id}/${verb}`, { body: { claim_token: made.claim_token, ...more } })

test('a record of a window is found by key, id and idempotency key, and its sentence names the window', async () => {
  await windowClass('page.viewed')
  const made = await claim({ class: 'page.viewed', consumer: 'one', key: 'page:1' })
  expect(made.id).toMatch(/^win_/)
  expect(await ask('page:1')).toMatchObject({ verdict: 'running', records: [{ id: made.id, duplicates: null }] })
  await settle(made, 'complete')
  const by = async (q: string) => (await ask(q)).records.map(({ id, matched, verdict }) => ({ id, matched, verdict }))
  expect(await by('page:1')).toEqual([{ id: made.id, matched: 'key', verdict: 'ran' }])
  expect(await by(made.id)).toEqual([{ id: made.id, matched: 'id', verdict: 'ran' }])
  expect(await by(made.id.replace('win_', 'rec_'))).toEqual([{ id: made.id, matched: 'id', verdict: 'ran' }])
  expect(await by(`${made.idempotency_key}:mail`)).toEqual([
    { id: made.id, matched: 'idempotency_key', verdict: 'ran' },
  ])
  const { sentence, coverage } = await ask('page:1')
  expect(sentence).toMatch(/^page\.viewed "page:1" ran once: one completed it at .*; kept in a 1 h window \(as of /)
  expect(coverage).toMatchObject([{ class: 'page.viewed', store: 'window', note: null }])
})

test('of a second attempt in a window nobody says once: nothing is known of the first', async () => {
  const first = await claim({ class: 'page.viewed', consumer: 'one', key: 'page:2' })
  await settle(first, 'fail', { error: { message: 'no' }, retry_after_ms: 0 })
  const second = await claim({ class: 'page.viewed', consumer: 'one', key: 'page:2' })
  expect(second).toMatchObject({ outcome: 'claimed', attempt: 2 })
  await settle(second, 'complete')
  const { sentence } = await ask('page:2')
  expect(sentence).toMatch(/^page\.viewed "page:2" ran: /)
  expect(sentence).toContain('kept in a 1 h window, where nothing is known of the attempt before')
})

test('an id of a window outside the scope of a key answers as one that no record has', async () => {
  const { id } = await claim({ class: 'page.viewed', consumer: 'one', key: 'page:3' })
  const key = await mint({ actions: ['read'], classes: ['mail.*'] })
  expect((await ask(id, {}, key)).records).toEqual([])
  expect((await ask(id)).records).toHaveLength(1)
})

test('a class younger than its window is never forgotten; an older one is, and the sentence says from when', async () => {
  const about = { class: 'page.viewed' }
  expect(await ask('nothing', about)).toMatchObject({ verdict: 'never' })
  await seenFor('page.viewed', 48 * hourMs)
  const unlimited = await ask('nothing', about)
  expect(unlimited.verdict).toBe('unknown')
  expect(unlimited.sentence).toMatch(/unknown: in page\.viewed, a 1 h window, a run before .* would be forgotten \(/)
  const [coverage] = unlimited.coverage
  expect(coverage?.note).toMatch(/^A 1 h window: a run before .* would be forgotten\.$/)
  expect(Date.parse(coverage?.complete_since ?? '')).toBeGreaterThan(startedAt - hourMs)
  const lately = await ask('nothing', { ...about, at: ago(0.5 * hourMs) })
  expect(lately.verdict).toBe('never')
  expect(lately.sentence).toMatch(/never ran here; page\.viewed, a 1 h window, is complete since /)
  expect(await ask('nothing', { ...about, at: ago(2 * hourMs) })).toMatchObject({ verdict: 'unknown' })
})

test('a window class leaves a question about every class unknown, and the complete ones are counted', async () => {
  await claim({ class: 'mail.sent', consumer: 'one', key: 'mail:1' })
  await seenFor('mail.sent', 72 * hourMs)
  expect((await ask('nothing')).sentence).toMatch(
    /1 class is complete since .*, when this ledger began, but in page\.viewed, a 1 h window, a run before .* would be/,
  )
  expect(await ask('nothing', { class: 'mail.sent' })).toMatchObject({ verdict: 'never' })
  expect(await ask('mail:1')).toMatchObject({ verdict: 'running' })
})

test('keys that retention forgot leave it unknown before the date that it names', async () => {
  await claim({ class: 'charge.made', consumer: 'one', key: 'charge:1' })
  await seenFor('charge.made', 72 * hourMs)
  const about = { class: 'charge.made' }
  expect(await ask('nothing', about)).toMatchObject({ verdict: 'never' })
  await sql`INSERT INTO class_retention (class, keys_complete_since) VALUES ('charge.made', ${ago(24 * hourMs)})
    ON CONFLICT (class) DO UPDATE SET keys_complete_since = EXCLUDED.keys_complete_since`
  const answer = await ask('nothing', about)
  expect(answer).toMatchObject({
    verdict: 'unknown',
    coverage: [{ complete_since: ago(24 * hourMs - 1), note: expect.stringContaining('as retention says') }],
  })
  expect(answer.sentence).toMatch(/unknown: in charge\.made a run before .* may be forgotten, as retention says \(/)
  expect(await ask('nothing', { ...about, at: ago(12 * hourMs) })).toMatchObject({ verdict: 'never' })
  expect(await ask('nothing', { ...about, at: ago(36 * hourMs) })).toMatchObject({ verdict: 'unknown' })
})

test('what a window lost is told with the span, and runs after it are known', async () => {
  await windowClass('page.lost')
  await seenFor('page.lost', 0.8 * hourMs)
  const about = { class: 'page.lost' }
  expect(await ask('nothing', about)).toMatchObject({ verdict: 'never' })
  await sql`INSERT INTO window_loss (class, cause, from_at, to_at, until_at)
    VALUES ('page.lost', 'flushed', ${ago(0.6 * hourMs)}, ${ago(0.5 * hourMs)}, ${ago(-hourMs)})`
  const answer = await ask('nothing', about)
  expect(answer.verdict).toBe('unknown')
  expect(answer.sentence).toMatch(
    /in page\.lost a run before .* may be lost, as Redis was flushed between .* and .* \(/,
  )
  expect(answer.coverage[0]?.note).toMatch(/^Redis was flushed between .* and .*: a run before that may be lost\.$/)
  expect(await ask('nothing', { ...about, at: ago(0.25 * hourMs) })).toMatchObject({ verdict: 'never' })
})

test('a window that can not be asked leaves its class unknown, and hides no record found elsewhere', async () => {
  await windowClass('page.away')
  const found = await claim({ class: 'page.away', consumer: 'one', key: 'away:1' })
  // Redis may hold records of it, and this service has none.
  await sql`UPDATE class_place SET redis_until = now() + interval '1 hour' WHERE class = 'page.away'`
  const answer = await ask('nothing', { class: 'page.away' })
  expect(answer.verdict).toBe('unknown')
  expect(answer.sentence).toContain('the window of page.away can not be asked now')
  expect(answer.coverage).toMatchObject([{ store: 'window', note: 'Its window can not be asked now.' }])
  expect(await ask('away:1', { class: 'page.away' })).toMatchObject({ verdict: 'running', records: [{ id: found.id }] })
})

test('a class that left its window is asked for in both, and is complete from then on', async () => {
  await windowClass('page.moved')
  const old = await claim({ class: 'page.moved', consumer: 'one', key: 'moved:1' })
  await request('PUT', '/v1/classes/page.moved', { body: {} })
  await sql`UPDATE class_era SET since = since - interval '3 days' WHERE class = 'page.moved'`
  await sql`UPDATE setting SET value = to_json(value::text::bigint + 1) WHERE name = 'window_revision'`
  await seenFor('page.moved', 96 * hourMs)
  const about = { class: 'page.moved' }
  const young = await claim({ class: 'page.moved', consumer: 'one', key: 'moved:2' })
  expect([old.id.slice(0, 4), young.id.slice(0, 4)]).toEqual(['win_', 'rec_'])
  expect((await ask('moved:1', about)).records).toMatchObject([{ id: old.id, verdict: 'running' }])
  expect((await ask('moved:2', about)).records).toMatchObject([{ id: young.id, verdict: 'running' }])
  await sql`UPDATE class_place SET postgres_until = now() - interval '2 days' WHERE class = 'page.moved'`
  expect(await ask('nothing', { ...about, at: ago(24 * hourMs) })).toMatchObject({
    verdict: 'never',
    coverage: [{ store: 'ledger', note: null }],
  })
  expect(await ask('nothing', { ...about, at: ago(60 * hourMs) })).toMatchObject({ verdict: 'unknown' })
})
