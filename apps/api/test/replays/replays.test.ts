import { describe, expect, test } from 'vitest'
import { replayRules } from '../../src/ledger/replay-rules.ts'
import { createReplayStore } from '../../src/stores/postgres/replay-store.ts'
import { expectProblem } from '../http/expect-problem.ts'
import { replayApp } from './replay-app.ts'

const app = await replayApp()
const { record, deliver, settle, replay, run, standing, request } = app

const lookup = async (key: string) =>
  (await request('GET', `/v1/lookup?q=${encodeURIComponent(key)}`)).json as unknown as {
    verdict: string
    sentence: string
    records: { verdict: string; sentence: string }[]
  }

test('a key replayed three times has three more generations, every result is kept, and it ran again', async () => {
  const first = await record('thrice', 'completed')
  const grants = [first]
  for (const generation of [2, 3, 4]) {
    const made = await replay({ record_ids: [first.id], reason: `reason ${generation}`, idempotency: 'new' })
    await run()
    expect(await standing(made.id)).toMatchObject({ state: 'finished', armed: 1, left_out: 0 })
    const granted = await deliver('thrice')
    expect(granted).toMatchObject({
      ...{ outcome: 'claimed', generation, attempt: 1 },
      idempotency_key: `rbk-${first.id.slice(4)}-${generation}`,
      replay: { id: made.id, reason: `reason ${generation}`, idempotency: 'new' },
    })
    grants.push(granted)
    await settle(granted, 'complete', { result: { generation } })
    expect(await deliver('thrice')).toMatchObject({ outcome: 'duplicate', generation, result: { generation } })
  }
  const file = (await request('GET', `/v1/records/${first.id}`)).json
  expect(file).toMatchObject({
    attempts: [
      { generation: 1, end: 'completed', result: { of: 'thrice' } },
      { generation: 2, end: 'completed', result: { generation: 2 } },
      { generation: 3, end: 'completed', result: { generation: 3 } },
      { generation: 4, current: true, result: { generation: 4 } },
    ],
    replays: [{ reason: 'reason 2' }, { reason: 'reason 3' }, { reason: 'reason 4', outcome: 'armed' }],
  })
  expect(grants.map(({ fencing_token }) => Number(fencing_token))).toEqual(
    [...grants].map(({ fencing_token }) => Number(fencing_token)).sort((a, b) => a - b),
  )
  const { verdict, records } = await lookup('thrice')
  expect(verdict).toBe('ran_again')
  expect(records[0]?.sentence).toMatch(/ran 4 times, by deliberate replay/)
  for (const old of grants.slice(0, 3)) {
    for (const verb of ['complete', 'extend', 'release']) {
      expect(await settle(old, verb)).toMatchObject({ code: 'stale_claim' })
    }
    expect(await deliver('thrice', { claim_token: old.claim_token })).toMatchObject({ outcome: 'duplicate' })
  }
})

test('with the same idempotency key every generation has that of the one it repeats', async () => {
  const first = await record('same-key', 'completed')
  for (const generation of [2, 3]) {
    await replay({ record_ids: [first.id] })
    await run()
    const granted = await deliver('same-key')
    expect(granted).toMatchObject({ generation, replay: { idempotency: 'same' } })
    expect(granted['idempotency_key']).toBe(first['idempotency_key'])
    await settle(granted, 'complete')
  }
  await replay({ record_ids: [first.id], idempotency: 'new' })
  await run()
  expect((await request('GET', `/v1/records/${first.id}`)).json['idempotency_key']).toBe(first['idempotency_key'])
  expect((await deliver('same-key'))['idempotency_key']).toMatch(/-4$/)
})

test('what is armed shows that it ran, the old owner is refused, and the next delivery is granted once', async () => {
  const first = await record('armed', 'completed')
  await replay({ record_ids: [first.id] })
  await run()
  const { verdict, records } = await lookup('armed')
  expect(verdict).toBe('ran')
  expect(records[0]?.sentence).toMatch(
    /^order\.paid "armed" ran once: billing completed it at [^,]+, and a replay lets/,
  )
  expect(await settle(first, 'complete')).toMatchObject({ code: 'stale_claim' })
  expectProblem(
    await request('POST', `/v1/records/${first.id}/resolve`, { body: { decision: 'dead', reason: 'x' } }),
    'not_resolvable',
  )
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => deliver('armed')))
  expect(outcomes.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1)
  const file = (await request('GET', `/v1/records/${first.id}`)).json
  expect(file.late_completions).toEqual([])
})

describe('states', () => {
  test('failed, dead, held and skipped records are armed; running and ready ones are left out with the reason', async () => {
    await request('PUT', '/v1/classes/hold.it', { body: { on_lease_expiry: 'hold' } })
    const held = await record('held', 'claimed', { class: 'hold.it' })
    await app.expire(held.id)
    const skipped = await record('skipped', 'dead')
    const body = { decision: 'skipped', reason: 'on purpose' }
    await request('POST', `/v1/records/${skipped.id}/resolve`, { body })
    const back = await record('back', 'claimed')
    await settle(back, 'release')
    const armed = [await record('failed', 'failed'), await record('dead', 'dead'), held, skipped]
    const left = [await record('running', 'claimed'), back]
    const window = 'win_0123456789abcdef0123456789abcdef'
    const gone = 'rec_0123456789abcdef0123456789abcdef'
    const ids = [...[...armed, ...left].map(({ id }) => id), window, gone]
    const dry = await request('POST', '/v1/replays', {
      body: { record_ids: ids, reason: 'r', delivery: 'rearm', idempotency: 'same', dry_run: true },
    })
    expect(dry.json).toMatchObject({ count: 4, more: false, may_run_again: 0, needs_approval: false })
    const made = await replay({ record_ids: ids })
    await run()
    const { records, ...counts } = await standing(made.id)
    expect(counts).toMatchObject({ state: 'finished', count: 4, armed: 4, left_out: 4 })
    expect(records.data.map(({ outcome }) => outcome)).toEqual([
      ...['armed', 'armed', 'armed', 'armed', 'running', 'already_ready', 'window_class', 'forgotten'],
    ])
    for (const key of ['failed', 'dead', 'skipped']) {
      expect(await deliver(key)).toMatchObject({ outcome: 'claimed', generation: 2, attempt: 1 })
    }
    expect(await deliver('held', { class: 'hold.it' })).toMatchObject({ outcome: 'claimed', generation: 2 })
    expect(await settle(held, 'complete')).toMatchObject({ code: 'stale_claim' })
  })

  test('of what was settled longer ago than downstream remembers it is told that it may run again', async () => {
    await request('PUT', '/v1/classes/short.memory', { body: { downstream_memory_ms: 1000 } })
    const old = await record('old', 'completed', { class: 'short.memory' })
    await app.sql`UPDATE record SET ended_at = ended_at - interval '2 seconds' WHERE key = 'old'`
    const fresh = await record('fresh', 'completed')
    const asked = { record_ids: [old.id, fresh.id], reason: 'r', delivery: 'rearm', dry_run: true }
    const dry = async (idempotency: string) =>
      (await request('POST', '/v1/replays', { body: { ...asked, idempotency } })).json
    expect(await dry('same')).toMatchObject({ count: 2, may_run_again: 1 })
    expect(await dry('new')).toMatchObject({ count: 2, may_run_again: 0 })
    expect((await request('GET', `/v1/records/${old.id}`)).json).toMatchObject({ state: 'completed' })
  })
})

describe('cancelling', () => {
  test('what nobody has taken up is put back as it stood, its owner included, and what was taken up stays', async () => {
    await request('PUT', '/v1/classes/hold.back', { body: { on_lease_expiry: 'hold' } })
    const held = await record('put-back-held', 'claimed', { class: 'hold.back' })
    await app.expire(held.id)
    const done = await record('put-back-done', 'completed')
    const failed = await record('put-back-failed', 'failed')
    const taken = await record('put-back-taken', 'completed')
    const shown = async (id: string) => ({ ...(await request('GET', `/v1/records/${id}`)).json, replays: [] })
    const before = await Promise.all([held, done, failed].map(({ id }) => shown(id)))
    const made = await replay({ record_ids: [held.id, done.id, failed.id, taken.id] })
    await run()
    expect(await deliver('put-back-taken')).toMatchObject({ outcome: 'claimed', generation: 2 })
    await request('POST', `/v1/replays/${made.id}/cancel`)
    await run()
    expect(await standing(made.id)).toMatchObject({ state: 'cancelled', armed: 4, put_back: 3 })
    const after = await Promise.all([held, done, failed].map(({ id }) => shown(id)))
    expect(after).toEqual(before)
    expect(await deliver('put-back-done')).toMatchObject({ outcome: 'duplicate', result: { of: 'put-back-done' } })
    expect(await settle(held, 'complete')).toMatchObject({ state: 'completed' })
    expect(await deliver('put-back-taken')).toMatchObject({ outcome: 'in_progress', generation: 2 })
  })

  test('a second replay that is cancelled leaves the generation of the first with its own reason and key', async () => {
    const first = await record('two-deep', 'completed')
    await replay({ record_ids: [first.id], reason: 'one' })
    await run()
    await settle(await deliver('two-deep'), 'complete')
    const second = await replay({ record_ids: [first.id], reason: 'two', idempotency: 'new' })
    await run()
    await request('POST', `/v1/replays/${second.id}/cancel`)
    await run()
    expect((await request('GET', `/v1/records/${first.id}`)).json).toMatchObject({
      ...{ state: 'completed', generation: 2, idempotency_key: first['idempotency_key'] },
      replay: { reason: 'one', idempotency: 'same' },
    })
  })
})

describe('a replay by filter', () => {
  test('arms what stood when it was asked for, oldest first, each once, however many processes run it', async () => {
    await app.sql`
      INSERT INTO record (id, claim_token, fencing_token, first_claimed_at, claimed_at, ended_at, version, generation,
        attempt, lease_ms, state, cause, on_lease_expiry, class, consumer, key)
      SELECT gen_random_uuid(), gen_random_uuid(), nextval('fencing_token'), now() - n * interval '1 second',
        now() - n * interval '1 second', now(), 2, 1, 1, 60000, 4, 3, 1, 'bulk.dead', 'billing', 'k' || n
      FROM generate_series(1, 1500) AS n`
    await record('too late', 'dead', { class: 'bulk.other' })
    const made = await replay({ filter: { class: 'bulk.dead', state: 'dead' } })
    expect(made).toMatchObject({ state: 'running', count: 1500, more: false })
    await record('later', 'dead', { class: 'bulk.dead' })
    await Promise.all([run(), run(), run()])
    expect(await standing(made.id)).toMatchObject({ state: 'finished', armed: 1500, left_out: 0 })
    const [counts] = await app.sql`
      SELECT count(*)::int AS items, count(DISTINCT record_id)::int AS records FROM replay_item
      WHERE replay_id = ${made.id}`
    expect(counts).toEqual({ items: 1500, records: 1500 })
    const [stood] = await app.sql`
      SELECT count(*) FILTER (WHERE state = 7 AND generation = 1 AND version = 3)::int AS armed,
        count(*) FILTER (WHERE state = 4)::int AS dead FROM record WHERE class = 'bulk.dead'`
    expect(stood).toEqual({ armed: 1500, dead: 1 })
    const page = await request('GET', `/v1/replays/${made.id}?limit=2`)
    const first = page.json['records'] as unknown as { data: { record_id: string }[]; next_cursor: string }
    const oldest = await app.sql`
      SELECT 'rec_' || replace(id::text, '-', '') AS id FROM record WHERE class = 'bulk.dead'
      ORDER BY first_claimed_at LIMIT 2`
    expect(first.data.map(({ record_id }) => record_id)).toEqual(oldest.map(({ id }) => id))
    const next = await request('GET', `/v1/replays/${made.id}?limit=2&cursor=${first.next_cursor}`)
    expect(next.json['records']).toMatchObject({ data: [{ outcome: 'armed' }, { outcome: 'armed' }] })
  })

  test('a step that is killed in its middle has done nothing, and the next one does it', async () => {
    const one = await record('killed', 'dead', { class: 'killed.step' })
    const made = await replay({ filter: { class: 'killed.step' } })
    const rules = replayRules(app.deps.classes)
    const killed = createReplayStore(app.cold).step(200, {
      ...rules,
      arm: (...given) => {
        rules.arm(...given)
        throw new Error('killed')
      },
    })
    await expect(killed).rejects.toThrow('killed')
    expect(await standing(made.id)).toMatchObject({ state: 'running', armed: 0 })
    expect(await deliver('killed', { class: 'killed.step' })).toMatchObject({ outcome: 'dead' })
    await run()
    expect(await deliver('killed', { class: 'killed.step' })).toMatchObject({ id: one.id, outcome: 'claimed' })
  })

  test('paused it arms nothing more, resumed it goes on', async () => {
    await record('p', 'dead', { class: 'paused.step' })
    const made = await replay({ filter: { class: 'paused.step' } })
    const verb = async (name: string) => (await request('POST', `/v1/replays/${made.id}/${name}`)).json
    expect(await verb('pause')).toMatchObject({ state: 'paused' })
    expect(await verb('pause')).toMatchObject({ state: 'paused' })
    await run()
    expect(await standing(made.id)).toMatchObject({ armed: 0 })
    expect(await verb('resume')).toMatchObject({ state: 'running' })
    await run()
    expect(await standing(made.id)).toMatchObject({ state: 'finished', armed: 1 })
    expectProblem(await request('POST', `/v1/replays/${made.id}/pause`), 'replay_conflict')
    const audit = await app.sql`SELECT action FROM audit WHERE target = ${made.id} ORDER BY id`
    expect(audit.map(({ action }) => action)).toEqual(['replay.create', 'replay.pause', 'replay.resume'])
  })
})

describe('a second person', () => {
  test('has to approve where the class says so, and is not who asked', async () => {
    await request('PUT', '/v1/classes/money.out', { body: { effects_cost_money: true } })
    const paid = await record('paid', 'completed', { class: 'money.out' })
    const made = await replay({ record_ids: [paid.id] })
    expect(made).toMatchObject({ state: 'awaiting_approval', approved_by: null })
    await run()
    expect(await standing(made.id)).toMatchObject({ armed: 0 })
    const path = `/v1/replays/${made.id}`
    expectProblem(await request('POST', `${path}/approve`), 'replay_conflict')
    expectProblem(await request('POST', `${path}/resume`), 'replay_conflict')
    const second = await app.mint({ actions: ['operate'] })
    expect((await request('POST', `${path}/approve`, { key: second })).json).toMatchObject({ state: 'running' })
    await run()
    expect(await standing(made.id)).toMatchObject({ state: 'finished', armed: 1 })
    expect((await standing(made.id)).approved_by).toMatch(/^key:/)
  })

  test('is asked for too where the policy came to say so while the replay ran', async () => {
    const some = await record('changed', 'completed', { class: 'money.later' })
    const made = await replay({ record_ids: [some.id] })
    await request('PUT', '/v1/classes/money.later', { body: { replay_approval: 'second_person' } })
    await run()
    expect(await standing(made.id)).toMatchObject({ state: 'awaiting_approval', armed: 0 })
  })
})
