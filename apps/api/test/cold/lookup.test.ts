import { lookupResponseSchema } from '@ranbook/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { lookup } from '../../src/ledger/lookup.ts'
import { coldApp } from './cold-app.ts'

const app = await coldApp()
const { request, claim, expire } = app

async function ask(q: string, more: Record<string, string> = {}, key?: string) {
  const query = new URLSearchParams({ q, ...more })
  const answer = await request('GET', `/v1/lookup?${query}`, key === undefined ? {} : { key })
  expect(answer.status).toBe(200)
  return lookupResponseSchema.parse(answer.json)
}

const settle = (id: string, verb: string, body: unknown) => request('POST', `/v1/claims/${id}/${verb}`, { body })
const resolve = (id: string, decision: string, more: object = {}) =>
  request('POST', `/v1/records/${id}/resolve`, { body: { decision, reason: 'as the bank says', ...more } })

const money = { class: 'charge.made', consumer: 'billing' }
const mail = { class: 'mail.sent', consumer: 'mailer' }

beforeAll(async () => {
  await request('PUT', '/v1/classes/charge.*', { body: { on_lease_expiry: 'hold' } })
  await request('PUT', '/v1/classes/once.*', { body: { max_attempts: 1 } })
})

describe('the verdict about a record', () => {
  test('completed: ran, once, by whom and when, with the duplicates suppressed', async () => {
    const { id, claim_token } = await claim({ ...mail, key: 'order:1', refs: ['cust_1'] })
    await settle(id, 'complete', { claim_token, result: { sent: true } })
    await app.sql`INSERT INTO duplicate_tally (record_id, count, first_at, last_at) VALUES (${id.slice(4)}, 2, now(), now())`
    const answer = await ask('order:1')
    expect(answer).toMatchObject({ verdict: 'ran', more: false })
    expect(answer.records).toMatchObject([
      { id, matched: 'key', verdict: 'ran', state: 'completed', duplicates: { count: 2 } },
    ])
    expect(answer.records[0]?.sentence).toMatch(
      /^mail\.sent "order:1" ran once: mailer completed it at [-\d]+ [:\d]+ UTC, attempt 1, .*at least 2 duplicates were suppressed/,
    )
    expect(answer.sentence).toMatch(/; 1 class asked, complete since .* UTC\)\.$/)
  })

  test('claimed with a live lease: running', async () => {
    const { id } = await claim({ ...mail, key: 'order:2' })
    expect(await ask('order:2')).toMatchObject({ verdict: 'running', records: [{ id, state: 'claimed' }] })
  })

  test('a retry claim whose lease is over: interrupted, it may have run', async () => {
    const { id } = await claim({ ...mail, key: 'order:3' })
    await expire(id)
    const answer = await ask('order:3')
    expect(answer).toMatchObject({ verdict: 'interrupted', records: [{ id, state: 'claimed' }] })
    expect(answer.sentence).toContain('may have run')
  })

  test('a hold claim whose lease is over: held, before any sweeper wrote it', async () => {
    const { id } = await claim({ ...money, key: 'order:4' })
    await expire(id)
    expect(await ask('order:4')).toMatchObject({ verdict: 'held', records: [{ id, state: 'held', verdict: 'held' }] })
    const [row] = await app.sql`SELECT state FROM record WHERE id = ${id.slice(4)}`
    expect(row?.state).toBe(1)
  })

  test('failed: failed, with what its consumer said', async () => {
    const { id, claim_token } = await claim({ ...mail, key: 'order:5' })
    await settle(id, 'fail', { claim_token, error: { message: 'mailbox full' }, retry_after_ms: 60_000 })
    const answer = await ask('order:5')
    expect(answer.verdict).toBe('failed')
    expect(answer.sentence).toContain('"mailbox full"')
  })

  test('failed for good: dead', async () => {
    const { id, claim_token } = await claim({ ...mail, key: 'order:6' })
    await settle(id, 'fail', { claim_token, error: { message: 'no such mailbox' }, retryable: false })
    expect((await ask('order:6')).verdict).toBe('dead')
  })

  test('given up because the last lease ran out: dead, yet it may have run', async () => {
    const fields = { class: 'once.only', consumer: 'mailer', key: 'order:7' }
    const { id } = await claim(fields)
    await expire(id)
    expect((await claim(fields)).outcome).toBe('dead')
    const answer = await ask('order:7')
    expect(answer.verdict).toBe('dead')
    expect(answer.sentence).toContain('so it may have run')
  })

  test('given back: ready, it has not run', async () => {
    const { id, claim_token } = await claim({ ...mail, key: 'order:8' })
    await settle(id, 'release', { claim_token })
    const answer = await ask('order:8')
    expect(answer.verdict).toBe('ready')
    expect(answer.sentence).toContain('has not run')
  })

  test('skipped by an operator: skipped', async () => {
    const { id } = await claim({ ...money, key: 'order:9' })
    await expire(id)
    await resolve(id, 'skipped')
    expect((await ask('order:9')).verdict).toBe('skipped')
  })

  test('taken up after an unheard attempt: the sentence does not say once', async () => {
    const first = await claim({ ...mail, key: 'order:10' })
    await expire(first.id)
    const second = await claim({ ...mail, key: 'order:10' })
    expect(second).toMatchObject({ outcome: 'claimed', attempt: 2 })
    await settle(second.id, 'complete', { claim_token: second.claim_token })
    const { sentence, verdict } = await ask('order:10')
    expect(verdict).toBe('ran')
    expect(sentence).toContain('1 earlier attempt ended without a word, so it may have run more than once')
  })

  test('a complete that came too late is told', async () => {
    const first = await claim({ ...mail, key: 'order:11' })
    await expire(first.id)
    const second = await claim({ ...mail, key: 'order:11' })
    const late = await settle(first.id, 'complete', { claim_token: first.claim_token, result: 1 })
    expect(late.status).toBe(409)
    const answer = await ask('order:11')
    expect(answer).toMatchObject({ verdict: 'running', records: [{ id: second.id, late_completions: 1 }] })
    expect(answer.sentence).toContain('a former owner reported too late')
  })
})

describe('a record is found by', () => {
  test('its id, its idempotency key with or without a label, a reference and source#seq', async () => {
    const made = await claim({ ...mail, key: 'found', refs: ['inv:7', 'cust_9'], source: 'shop#eu', seq: 41 })
    const by = async (q: string) => (await ask(q)).records.map(({ id, matched }) => ({ id, matched }))
    expect(await by('found')).toEqual([{ id: made.id, matched: 'key' }])
    expect(await by(made.id)).toEqual([{ id: made.id, matched: 'id' }])
    expect(await by(made.idempotency_key)).toEqual([{ id: made.id, matched: 'idempotency_key' }])
    expect(await by(`${made.idempotency_key}:stripe:eu`)).toEqual([{ id: made.id, matched: 'idempotency_key' }])
    expect(await by('cust_9')).toEqual([{ id: made.id, matched: 'reference' }])
    expect(await by('shop#eu#41')).toEqual([{ id: made.id, matched: 'source_seq' }])
    expect(await by('shop#eu#42')).toEqual([])
  })

  test.each([
    'a/b',
    '100%',
    'a?b#c&d=e',
    '..',
    ' two  spaces ',
    '💸 €',
    "'; DROP TABLE record;--",
    'x'.repeat(1024),
    '__proto__',
    '%2F',
    'rec_1',
  ])('the odd key %j, byte for byte', async (key) => {
    const { id } = await claim({ ...mail, key })
    const { records } = await ask(key)
    expect(records).toMatchObject([{ id, key, matched: 'key' }])
  })

  test('the same key under every class and consumer that uses it, the newest first', async () => {
    const ids: string[] = []
    for (const fields of [mail, money, { class: 'mail.sent', consumer: 'auditor' }]) {
      ids.unshift((await claim({ ...fields, key: 'shared' })).id)
    }
    expect((await ask('shared')).records.map(({ id }) => id)).toEqual(ids)
    expect((await ask('shared', { class: 'mail.sent' })).records.map(({ id }) => id)).toEqual([ids[0], ids[2]])
    expect((await ask('shared', { consumer: 'billing' })).records.map(({ id }) => id)).toEqual([ids[1]])
    expect((await ask('shared', { class: 'mail.sent', consumer: 'billing' })).records).toEqual([])
  })

  test('an id does not find a record outside the class asked', async () => {
    const { id } = await claim({ ...mail, key: 'elsewhere' })
    expect((await ask(id, { class: 'charge.made' })).records).toEqual([])
  })
})

describe('the overall verdict', () => {
  test('is that of the record that weighs most, and the others are counted', async () => {
    const done = await claim({ ...mail, key: 'weighs' })
    await settle(done.id, 'complete', { claim_token: done.claim_token })
    await claim({ ...money, key: 'weighs' })
    const answer = await ask('weighs')
    expect(answer.verdict).toBe('ran')
    expect(answer.sentence).toMatch(/^mail\.sent "weighs" ran once.*; 1 other record matches \(as of /)
  })
})

test('a record of a pair that came up in the middle of the lookup is not overlooked', async () => {
  const { classes, ledger } = app.deps
  let looks = 0
  const pairsSeen: typeof classes.pairsSeen = async (...asked) => {
    const pairs = await classes.pairsSeen(...asked)
    looks += 1
    if (looks === 1) await claim({ class: 'newcomer', consumer: 'new', key: 'in the middle' })
    return pairs
  }
  const deps = { store: ledger.store, windows: ledger.windows, classes: { ...classes, pairsSeen }, now: Date.now }
  const question = { q: 'in the middle', class: null, consumer: null, at: null }
  const answer = await lookup(deps, { classes: ['*'], consumer: null }, question)
  expect(answer).toMatchObject({ verdict: 'running', records: [{ record: { class: 'newcomer' } }] })
  expect(looks).toBe(2)
})
