import { attentionKinds } from '@ranbook/contract'
import { beforeEach, describe, expect, test } from 'vitest'
import { expectProblem } from '../http/expect-problem.ts'
import { countIn } from '../stats/count-in.ts'
import { attentionApp, counts, itemsOf } from './attention-app.ts'

const app = await attentionApp()
const { request, claim, mint, sql, attention, age, fail } = app

test('nothing is under attention where all runs as it should', async () => {
  const { id, claim_token } = await claim({ class: 'mail', consumer: 'a', key: 'ran' })
  await request('POST', `/v1/claims/${id}/complete`, { body: { claim_token } })
  await claim({ class: 'charge', consumer: 'a', key: 'runs' })
  await fail(await claim({ class: 'mail', consumer: 'a', key: 'retries' }), true)
  const view = await attention()
  expect(view.items).toEqual([])
  expect(Object.keys(view.counts).sort()).toEqual([...attentionKinds].sort())
  expect(counts(view)).toEqual({})
  expect(view.more).toEqual([])
})

describe('classes', () => {
  test('that nobody looked at show until they are reviewed or have a policy of their own', async () => {
    await sql`INSERT INTO class_seen VALUES ('new.a', 'x', now()), ('new.b', 'x', now()), ('new.b', 'y', now())`
    const view = await attention()
    expect(counts(view)).toEqual({ unreviewed_class: 2 })
    expect(new Set(view.items.map(({ class: name }) => name))).toEqual(new Set(['new.a', 'new.b']))
    expect(view.items[0]?.actions).toEqual(['review', 'edit_policy'])
    await request('POST', '/v1/classes/new.a/review')
    await request('PUT', '/v1/classes/new.b', { body: {} })
    expect(counts(await attention())).toEqual({})
  })

  test('that a consumer claims for the first time show for 24 hours, where they were known for a day', async () => {
    await sql`INSERT INTO class_seen VALUES
      ('mail', 'old', now() - interval '3 days'), ('mail', 'a/b:c', now() - interval '1 hour'),
      ('mail', 'older', now() - interval '25 hours'),
      ('charge', 'first', now() - interval '2 hours'), ('charge', 'second', now() - interval '1 hour')`
    const view = await attention()
    expect(counts(view)).toEqual({ new_consumer: 1 })
    expect(view.items[0]).toMatchObject({
      id: 'new_consumer:mail:a%2Fb%3Ac',
      class: 'mail',
      target: 'a/b:c',
      record_id: null,
    })
    expect(view.items[0]?.sentence).toMatch(
      /^a\/b:c claimed mail for the first time at .* UTC; the class is known since /,
    )
  })

  test('whose policy forgets sooner than its source redelivers show until it is mended', async () => {
    const short = { key_retention_ms: 86_400_000, source_horizon_ms: 259_200_000, accept_short_retention: true }
    for (const name of ['mail', 'refund.*']) {
      expect((await request('PUT', `/v1/classes/${name}`, { body: short })).status).toBeLessThan(300)
    }
    const view = await attention()
    expect(counts(view)).toEqual({ short_retention: 2 })
    expect(view.items[0]).toMatchObject({ id: 'short_retention:refund.*', class: 'refund.*', actions: ['edit_policy'] })
    expect(view.items[0]?.sentence).toMatch(/^refund\.\*: key_retention_ms remembers a key for .* would run again\.$/)
    expect(counts(await attention(await mint({ actions: ['read'], classes: ['refund.*'] })))).toEqual({
      short_retention: 1,
    })
    for (const name of ['mail', 'refund.*']) await request('PUT', `/v1/classes/${name}`, { body: {} })
    expect(counts(await attention())).toEqual({})
  })

  test('whose window lost something show from then on until 7 days after it is over', async () => {
    await sql`INSERT INTO window_loss (class, cause, from_at, to_at, until_at) VALUES
      ('view', 'outage', '2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z', now() - interval '6 days'),
      (NULL, 'flushed', '2026-01-02T00:00:00Z', '2026-01-02T00:01:00Z', now() + interval '1 day'),
      ('view', 'evicted', '2025-01-01T00:00:00Z', '2025-01-01T00:01:00Z', now() - interval '8 days')`
    await sql`UPDATE setting SET value = to_json(value::text::bigint + 1) WHERE name = 'window_revision'`
    const view = await attention()
    expect(counts(view)).toEqual({ window_lost: 2 })
    expect(view.items.map(({ class: name, since }) => [name, since])).toEqual([
      [null, '2026-01-02T00:00:00.000Z'],
      ['view', '2026-01-01T00:00:00.000Z'],
    ])
    expect(view.items[0]?.sentence).toMatch(
      /^Redis was flushed: what every window class granted before 2026-01-02 00:01:00 UTC may be forgotten, /,
    )
    expect(view.items[1]?.sentence).toMatch(
      /^Redis could not be asked for view from 2026-01-01 00:00:00 UTC to 2026-01-01 00:01:00 UTC; /,
    )
    const scoped = await mint({ actions: ['read'], classes: ['view'] })
    expect(counts(await attention(scoped))).toEqual({ window_lost: 1 })
  })
})

test('warnings of stores are for those who see everything', async () => {
  app.warnings.push({ since: Date.parse('2026-01-01T00:00:00Z'), target: 'redis', sentence: 'Redis evicts keys.' })
  expect((await attention()).items).toEqual([
    {
      id: 'store_warning:redis:1767225600000',
      kind: 'store_warning',
      since: '2026-01-01T00:00:00.000Z',
      class: null,
      record_id: null,
      target: 'redis',
      sentence: 'Redis evicts keys.',
      actions: [],
    },
  ])
  for (const scope of [{ classes: ['mail', 'charge'] }, { consumer: 'a' }]) {
    expect((await attention(await mint({ actions: ['read'], ...scope }))).items).toEqual([])
  }
})

describe('a scope', () => {
  beforeEach(async () => {
    for (const [name, consumer] of [
      ['in.one', 'a'],
      ['in.one', 'b'],
      ['in_one', 'a'],
      ['out', 'a'],
    ] as const) {
      const drain = countIn(app)
      await fail(await claim({ class: name, consumer, key: 'dead' }), false)
      const released = await claim({ class: name, consumer, key: 'ready' })
      await request('POST', `/v1/claims/${released.id}/release`, { body: { claim_token: released.claim_token } })
      await age(released.id, '2 hours')
      const first = await claim({ class: name, consumer, key: 'late', payload: 1 })
      await app.expire(first.id)
      await claim({ class: name, consumer, key: 'late' })
      await claim({ class: name, consumer, key: 'late', payload: 2 })
      await request('POST', `/v1/claims/${first.id}/complete`, { body: { claim_token: first.claim_token } })
      await drain()
    }
    await sql`INSERT INTO class_seen VALUES ('in.one', 'ancient', now() - interval '9 days'), ('out', 'ancient', now() - interval '9 days')
      ON CONFLICT DO NOTHING`
  })

  test.each([
    [['*'], null, { dead: 4, ready: 4, late_completion: 4, mismatch: 4, new_consumer: 3, unreviewed_class: 3 }],
    [['in.*'], null, { dead: 2, ready: 2, late_completion: 2, mismatch: 2, new_consumer: 2, unreviewed_class: 1 }],
    [['in.one', 'out'], 'a', { dead: 2, ready: 2, late_completion: 2, mismatch: 2, unreviewed_class: 2 }],
    [['*'], 'b', { dead: 1, ready: 1, late_completion: 1, mismatch: 1, unreviewed_class: 1 }],
    [['in_one.*'], null, {}],
  ])('of %j for %s shows what it covers and nothing of the rest', async (classes, consumer, expected) => {
    const view = await attention(await mint({ actions: ['read'], classes, consumer }))
    expect(counts(view)).toEqual(expected)
    expect(view.items).toHaveLength(Object.values(expected).reduce((sum, count) => sum + count, 0))
    if (consumer !== null) expect(JSON.stringify(view.items)).not.toContain('ancient')
  })
})

test('a caller without the action read may not ask, and the call takes no parameters', async () => {
  const key = await mint({ actions: ['claim', 'operate', 'admin'] })
  expectProblem(await request('GET', '/v1/attention', { key }), 'forbidden')
  expectProblem(await request('GET', '/v1/attention?kind=held'), 'invalid_request')
})

test('keys and names of any text come out as text', async () => {
  const names = ['<script>alert(1)</script>', `'; DROP TABLE record; --`, '%_\\', '{"a":1}', 'רשומה‮abc', '😀:/?#%2F']
  const drain = countIn(app)
  for (const name of names) {
    const fields = { class: name, consumer: name, key: name, payload: 1 }
    await fail(await claim(fields), false)
    await claim({ ...fields, payload: 2 })
  }
  await drain()
  const view = await attention()
  expect(counts(view)).toEqual({ dead: 6, mismatch: 6, unreviewed_class: 6 })
  expect(new Set(itemsOf(view, 'dead').map(({ class: name }) => name))).toEqual(new Set(names))
  expect(view.items.some(({ sentence }) => sentence.includes('‮'))).toBe(false)
  expect(new Set(view.items.map(({ id }) => id)).size).toBe(view.items.length)
  const own = await mint({ actions: ['read'], classes: ['%_\\'] })
  expect(counts(await attention(own))).toEqual({ dead: 1, mismatch: 1, unreviewed_class: 1 })
})

test('a hundred of a kind are shown, all of some thousand counted, and where more may be it is said', async () => {
  const make = (from: number, to: number) => sql`
    INSERT INTO record (id, claim_token, fencing_token, first_claimed_at, claimed_at, ended_at, version, generation, attempt,
      lease_ms, state, cause, on_lease_expiry, class, consumer, key)
    SELECT md5(n::text)::uuid, md5(n::text)::uuid, n, now(), now(), now() - n * interval '1 second', 1, 1, 1, 1000, 4, 3, 1,
      CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, 'x', n::text
    FROM generate_series(${from}::int, ${to}::int) n`
  await make(1, 4999)
  const all = await attention()
  expect(all.counts.dead).toBe(4999)
  expect(all.items).toHaveLength(100)
  expect(all.more).toEqual([])
  const even = await attention(await mint({ actions: ['read'], classes: ['even'] }))
  expect(even.counts.dead).toBe(2499)
  await make(5000, 9000)
  const many = await attention()
  expect(many.counts.dead).toBe(5000)
  expect(many.more).toEqual(['dead'])
  expect(many.items).toHaveLength(100)
})
