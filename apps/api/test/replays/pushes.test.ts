import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { postSigned } from '../../src/delivery/post-signed.ts'
import { pushReplays } from '../../src/ledger/push-replays.ts'
import { createPushStore } from '../../src/stores/postgres/push-store.ts'
import { replayApp } from './replay-app.ts'

const app = await replayApp()
const { deliver, settle, replay, run, standing, request } = app

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
type Received = { headers: IncomingMessage['headers']; body: string }
let received: Received[] = []
let statuses: number[] = []
const receiver = createServer((incoming, answer) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    received.push({ headers: incoming.headers, body: Buffer.concat(chunks).toString() })
    answer.writeHead(statuses.shift() ?? 204).end()
  })
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
afterAll(() => receiver.close())
beforeEach(() => {
  received = []
  statuses = []
})

await request('PUT', '/v1/classes/pushed.*', { body: { replay_target: { url, secret } } })

const push = async () => {
  await app.refresh()
  await pushReplays({
    pushes: createPushStore(app.cold),
    records: app.deps.ledger.store,
    policies: { ...app.deps.classes, requireFresh: () => {} },
    post: (post) => postSigned({ rules: app.deps.targets, now: Date.now }, post),
    random: () => 0,
    stopping: () => false,
  })
}
/** As if the next tries were due. */
const hurry = () => app.sql`UPDATE replay_push SET next_try_at = now() - interval '1 second' WHERE state = 'pending'`
const completed = async (key: string, fields = {}) => {
  const payload = { amount: 1 }
  const record = await deliver(key, { class: 'pushed.a', payload, source: 'shop', ...fields })
  await settle(record, 'complete', { result: { ok: true } })
  return record
}

test('a push posts the stored payload as a signed event, and its receiver is granted the next generation', async () => {
  const raw = '{"n":12345678901234567890,"a":"ü"}'
  const body = `{"class":"pushed.a","consumer":"billing","key":"k/1","source":"shop","occurred_at":"2026-11-30T10:00:00.000Z","payload":${raw}}`
  const record = (await request('POST', '/v1/claims', { body })).json
  await settle(record, 'complete')
  const made = await replay({ record_ids: [record.id], delivery: 'push', reason: 'lost in März' })
  await run()
  expect(await standing(made.id)).toMatchObject({ state: 'running', armed: 1, pushed: 0 })
  await push()
  expect(received).toHaveLength(1)
  const [{ headers, body: event } = { headers: {}, body: '' }] = received
  new Webhook(secret).verify(event, headers as Record<string, string>)
  expect(headers).toMatchObject({
    'content-type': 'application/cloudevents+json',
    'ranbook-replay-id': made.id,
    'ranbook-replay-reason': encodeURIComponent('lost in März'),
    'ranbook-generation': '2',
  })
  expect(event).toContain(`"data":${raw}`)
  expect(JSON.parse(event)).toMatchObject({
    ...{ id: 'k/1', source: 'shop', type: 'pushed.a', time: '2026-11-30T10:00:00.000Z', rbkrecord: record.id },
    ...{ rbkconsumer: 'billing', rbkkey: 'k/1', rbkgeneration: 2, rbkreplay: made.id },
  })
  expect(await standing(made.id)).toMatchObject({ state: 'finished', pushed: 1, push_failed: 0 })
  expect((await standing(made.id)).records.data).toMatchObject([{ outcome: 'pushed' }])
  expect(await deliver('k/1', { class: 'pushed.a' })).toMatchObject({ outcome: 'claimed', generation: 2 })
})

test('a target that fails is tried again with the same id until it takes the event', async () => {
  statuses = [500, 302, 200]
  const record = await completed('again')
  const made = await replay({ record_ids: [record.id], delivery: 'push' })
  await run()
  for (const tries of [1, 2, 3]) {
    await push()
    expect(received).toHaveLength(tries)
    await push()
    expect(received).toHaveLength(tries)
    await hurry()
  }
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(await standing(made.id)).toMatchObject({ state: 'finished', pushed: 1 })
})

test('a sender that was killed between post and note is followed by another, with the same id', async () => {
  const record = await completed('killed')
  const made = await replay({ record_ids: [record.id], delivery: 'push' })
  await run()
  const store = createPushStore(app.cold)
  expect(await store.takeDue(8, 60_000)).toMatchObject([{ recordId: record.id, tries: 1 }])
  await push()
  expect(received).toHaveLength(0)
  await hurry()
  await push()
  expect(received).toHaveLength(1)
  expect(await standing(made.id)).toMatchObject({ state: 'finished', pushed: 1 })
})

test('after 24 h a push is given up, and the record stays armed', async () => {
  statuses = [503, 503]
  const record = await completed('given-up')
  const made = await replay({ record_ids: [record.id], delivery: 'push' })
  await run()
  await push()
  await app.sql`UPDATE replay_push SET first_tried_at = first_tried_at - interval '24 hours' WHERE state = 'pending'`
  await hurry()
  await push()
  expect(await standing(made.id)).toMatchObject({ state: 'finished', pushed: 0, push_failed: 1 })
  const [row] = await app.sql`SELECT error FROM replay_push WHERE replay_id = ${made.id}`
  expect(row).toEqual({ error: 'status 503' })
  expect(await deliver('given-up', { class: 'pushed.a' })).toMatchObject({ outcome: 'claimed', generation: 2 })
})

test('what another delivery took up, or a cancel put back, is not posted', async () => {
  const [taken, back] = [await completed('taken'), await completed('back')]
  const first = await replay({ record_ids: [taken.id], delivery: 'push' })
  const second = await replay({ record_ids: [back.id], delivery: 'push' })
  await run()
  await deliver('taken', { class: 'pushed.a' })
  await request('POST', `/v1/replays/${second.id}/cancel`)
  await push()
  await run()
  await push()
  expect(received).toEqual([])
  expect(await standing(first.id)).toMatchObject({ state: 'finished', pushed: 0, push_failed: 0 })
  expect(await standing(second.id)).toMatchObject({ state: 'cancelled', put_back: 1 })
  expect(await deliver('back', { class: 'pushed.a' })).toMatchObject({ outcome: 'duplicate' })
})

test('a paused replay posts nothing until it is resumed', async () => {
  const record = await completed('paused')
  const made = await replay({ record_ids: [record.id], delivery: 'push' })
  await run()
  await request('POST', `/v1/replays/${made.id}/pause`)
  await push()
  expect(received).toEqual([])
  await request('POST', `/v1/replays/${made.id}/resume`)
  await push()
  expect(received).toHaveLength(1)
  expect(await standing(made.id)).toMatchObject({ state: 'finished', pushed: 1 })
})

test('records without a payload and classes without a target are left out, in the dry run too', async () => {
  const bare = await completed('bare', { payload: undefined })
  const nowhere = await completed('nowhere', { class: 'unpushed' })
  const body = { record_ids: [bare.id, nowhere.id], reason: 'r', delivery: 'push', idempotency: 'same' }
  const dry = await request('POST', '/v1/replays', { body: { ...body, dry_run: true } })
  expect(dry.json).toMatchObject({
    count: 0,
    left_out: [
      { reason: 'payload_erased', count: 1 },
      { reason: 'no_target', count: 1 },
    ],
  })
  const made = await replay(body)
  await run()
  expect(await standing(made.id)).toMatchObject({ state: 'finished', armed: 0, left_out: 2 })
})

test('the secret is shown nowhere, stays where only the url is given, and is needed for another one', async () => {
  const path = '/v1/classes/secret.class'
  const put = await request('PUT', path, { body: { replay_target: { url, secret } } })
  expect(put.json).toMatchObject({ replay_target: { url, has_secret: true } })
  const again = await request('PUT', path, { body: put.json })
  expect(again.status).toBe(200)
  const other = await request('PUT', path, { body: { replay_target: { url: `${url}/2` } } })
  expect(other.json).toMatchObject({ code: 'invalid_policy' })
  const answers = [put, again, other, await request('GET', path), await request('GET', `${path}/history`)]
  for (const { text } of [...answers, await request('GET', '/v1/classes?limit=200')]) expect(text).not.toContain(secret)
  const written = await app.sql`
    SELECT before::text || after::text AS text FROM audit WHERE target = 'secret.class'
    UNION ALL SELECT policy::text || diff::text FROM class_policy_history WHERE name = 'secret.class'`
  expect(written.length).toBeGreaterThan(2)
  for (const { text } of written) expect(text ?? '').not.toContain(secret)
  const [policy] = await app.sql`SELECT policy::text AS policy FROM class_policy WHERE name = 'secret.class'`
  expect(policy?.['policy']).toContain(secret)
})
