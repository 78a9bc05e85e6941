import { describe, expect, test } from 'vitest'
import { expectProblem } from '../http/expect-problem.ts'
import { countIn } from '../stats/count-in.ts'
import { attentionApp, counts, itemsOf } from './attention-app.ts'

const app = await attentionApp()
const { request, claim, sql, attention, age, fail } = app

const everyDecision = ['completed', 'retry', 'dead', 'skipped']

describe('records', () => {
  test('that are held show whether or not the sweeper wrote it, and an operator’s decision ends it', async () => {
    const swept = await claim({ class: 'charge', consumer: 'a', key: 'swept' })
    await sql`UPDATE record SET state = 5, sweep_at = NULL, lease_expires_at = '2026-01-02T03:04:05Z' WHERE id = ${swept.id.slice(4)}::uuid`
    const unswept = await claim({ class: 'charge', consumer: 'a', key: 'unswept' })
    await app.expire(unswept.id)
    const view = await attention()
    expect(counts(view)).toEqual({ held: 2 })
    expect(itemsOf(view, 'held').map(({ record_id }) => record_id)).toEqual([unswept.id, swept.id])
    expect(view.items[1]).toEqual({
      id: `held:${swept.id}`,
      kind: 'held',
      since: '2026-01-02T03:04:05.000Z',
      class: 'charge',
      record_id: swept.id,
      target: null,
      sentence:
        'charge "swept" is held until a person decides: the lease of attempt 1 of a ran out at 2026-01-02 03:04:05 UTC without a word, so it may have run.',
      actions: everyDecision,
    })
    for (const { id } of [swept, unswept]) {
      const body = { decision: 'completed', reason: 'looked' }
      expect((await request('POST', `/v1/records/${id}/resolve`, { body })).status).toBe(200)
    }
    expect(counts(await attention())).toEqual({})
  })

  test('that were given up show for 30 days, or until an operator says so too', async () => {
    const young = await claim({ class: 'mail', consumer: 'a', key: 'young' })
    const old = await claim({ class: 'mail', consumer: 'a', key: 'old' })
    await fail(young, false)
    await fail(old, false)
    await age(old.id, '31 days')
    const view = await attention()
    expect(counts(view)).toEqual({ dead: 1 })
    expect(view.items[0]).toMatchObject({ record_id: young.id, actions: everyDecision })
    expect(view.items[0]?.sentence).toMatch(
      /^mail "young" was given up at \S+ \S+ UTC: a failed and said not to retry, with "card "declined""\.$/,
    )
    await request('POST', `/v1/records/${young.id}/resolve`, { body: { decision: 'dead', reason: 'it is' } })
    expect(counts(await attention())).toEqual({})
  })

  test('that failed or were interrupted show once nobody came back for ten leases, at least ten minutes', async () => {
    const made = [
      { key: 'short', lease_ms: 1000, after: '599 seconds', shows: false },
      { key: 'short late', lease_ms: 1000, after: '602 seconds', shows: true },
      { key: 'long', lease_ms: 3_600_000, after: '9 hours', shows: false },
      { key: 'long late', lease_ms: 3_600_000, after: '11 hours 1 second', shows: true },
    ]
    for (const { key, lease_ms, after } of made) {
      const failed = await claim({ class: 'mail', consumer: 'a', key: `failed ${key}`, lease_ms })
      await fail(failed, true)
      await age(failed.id, after)
      const interrupted = await claim({ class: 'mail', consumer: 'a', key: `interrupted ${key}`, lease_ms })
      await age(interrupted.id, after)
      await sql`UPDATE record SET lease_expires_at = lease_expires_at - ${lease_ms} * interval '1 millisecond' WHERE id = ${interrupted.id.slice(4)}::uuid`
    }
    const view = await attention()
    expect(counts(view)).toEqual({ failed: 2, interrupted: 2 })
    for (const kind of ['failed', 'interrupted'] as const) {
      expect(itemsOf(view, kind).map(({ sentence }) => sentence)).toEqual([
        expect.stringContaining(`"${kind} short late"`),
        expect.stringContaining(`"${kind} long late"`),
      ])
    }
    expect(view.items.every(({ actions }) => actions.length === 4)).toBe(true)
  })

  test('that are ready show once no delivery came for an hour', async () => {
    const released = await claim({ class: 'mail', consumer: 'a', key: 'released' })
    await request('POST', `/v1/claims/${released.id}/release`, { body: { claim_token: released.claim_token } })
    const sentBack = await claim({ class: 'mail', consumer: 'a', key: 'sent back' })
    await fail(sentBack, false)
    await request('POST', `/v1/records/${sentBack.id}/resolve`, { body: { decision: 'retry', reason: 'again' } })
    await age(released.id, '59 minutes')
    await age(sentBack.id, '61 minutes')
    expect(counts(await attention())).toEqual({ ready: 1 })
    await age(released.id, '30 minutes')
    expect(itemsOf(await attention(), 'ready').map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(
        /^mail "sent back" waits .* an operator sent it back after attempt 1 of a, and none came since\.$/,
      ),
      expect.stringMatching(/^mail "released" waits .* was given back unstarted, and none came since\.$/),
    ])
  })

  test('whose former owner completed too late show for 7 days', async () => {
    const first = await claim({ class: 'mail', consumer: 'a', key: 'late' })
    await app.expire(first.id)
    const second = await claim({ class: 'mail', consumer: 'a', key: 'late' })
    await request('POST', `/v1/claims/${first.id}/complete`, { body: { claim_token: second.claim_token } })
    const late = await request('POST', `/v1/claims/${first.id}/complete`, { body: { claim_token: first.claim_token } })
    expectProblem(late, 'stale_claim')
    const view = await attention()
    expect(counts(view)).toEqual({ late_completion: 1 })
    expect(view.items[0]).toMatchObject({ record_id: first.id, class: 'mail', actions: [] })
    expect(view.items[0]?.sentence).toMatch(
      /^mail "late": a former owner at a reported too late, at .* UTC, to have completed it; it probably ran more than once\.$/,
    )
    await sql`UPDATE late_completion SET at = at - interval '8 days'`
    expect(counts(await attention())).toEqual({})
  })

  test('whose key came with another payload show for 24 hours, with how often', async () => {
    const drain = countIn(app)
    const { id } = await claim({ class: 'mail', consumer: 'a', key: 'used twice', payload: 1 })
    for (const payload of [2, 3]) await claim({ class: 'mail', consumer: 'a', key: 'used twice', payload })
    await drain()
    const again = countIn(app)
    await claim({ class: 'mail', consumer: 'a', key: 'used twice', payload: 4 })
    await again()
    const view = await attention()
    expect(counts(view)).toEqual({ mismatch: 1 })
    expect(view.items[0]).toMatchObject({ id: `mismatch:${id}`, record_id: id, class: 'mail', actions: [] })
    expect(view.items[0]?.sentence).toMatch(
      /^mail "used twice" was used with another payload: at least 3 deliveries to a, between .* UTC and .* UTC; /,
    )
    await sql`UPDATE mismatch_tally SET last_at = last_at - interval '25 hours', first_at = first_at - interval '25 hours'`
    expect(counts(await attention())).toEqual({})
  })
})
