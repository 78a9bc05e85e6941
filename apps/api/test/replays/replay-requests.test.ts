import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { expectProblem } from '../http/expect-problem.ts'
import { replayApp } from './replay-app.ts'

const app = await replayApp()
const { record, deliver, replay, run, standing, request } = app

const valid = { record_ids: [`rec_${'0'.repeat(32)}`], reason: 'r', delivery: 'rearm', idempotency: 'same' }

test.each([
  ['no reason', { ...valid, reason: undefined }],
  ['an empty reason', { ...valid, reason: '' }],
  ['ids and a filter', { ...valid, filter: { class: 'a' } }],
  ['neither ids nor a filter', { ...valid, record_ids: undefined }],
  ['an empty filter', { ...valid, record_ids: undefined, filter: {} }],
  ['a state that can not be replayed', { ...valid, record_ids: undefined, filter: { state: 'claimed' } }],
  ['what is no id', { ...valid, record_ids: ['rec_1'] }],
  ['no ids', { ...valid, record_ids: [] }],
  ['an unknown field', { ...valid, dryRun: true }],
  ['a replay_id that is no UUID', { ...valid, replay_id: 'x' }],
  ['no idempotency', { ...valid, idempotency: undefined }],
])('%s is refused by name', async (_name, body) => {
  expectProblem(await request('POST', '/v1/replays', { body }), 'invalid_request')
})

test('the same request with its replay_id again is the same replay, another one is a conflict', async () => {
  const one = await record('repeat', 'completed')
  const body = { record_ids: [one.id], replay_id: randomUUID() }
  const [first, again] = [await replay(body), await replay(body)]
  expect(again.id).toBe(first.id)
  expectProblem(
    await request('POST', '/v1/replays', { body: { ...valid, ...body, reason: 'other' } }),
    'replay_conflict',
  )
  await run()
  expect((await standing(first.id)).armed).toBe(1)
})

test('a key sees, asks for and decides about what lies in its scope, and nothing else', async () => {
  const mine = await record('mine', 'completed', { class: 'team.a' })
  const theirs = await record('theirs', 'completed', { class: 'team.b' })
  const key = await app.mint({ actions: ['read', 'operate'], classes: ['team.a'] })
  const made = await replay({ record_ids: [mine.id, theirs.id] }, { key })
  expect(made).toMatchObject({ count: 1 })
  await run()
  const file = await request('GET', `/v1/replays/${made.id}`, { key })
  expect(file.json['records']).toMatchObject({ data: [{ outcome: 'armed' }, { outcome: 'forgotten' }] })
  expect(await deliver('theirs', { class: 'team.b' })).toMatchObject({ outcome: 'duplicate' })
  const other = await app.mint({ actions: ['read', 'operate'], classes: ['team.b'] })
  expectProblem(await request('GET', `/v1/replays/${made.id}`, { key: other }), 'not_found')
  expectProblem(await request('POST', `/v1/replays/${made.id}/cancel`, { key: other }), 'not_found')
  const listed = await request('GET', '/v1/replays?limit=2', { key: other })
  expect(listed.json).toMatchObject({ data: [], next_cursor: null })
  expect((await request('GET', '/v1/replays?limit=2')).json.data).toHaveLength(2)
})

test('an unknown replay is not found, whatever its id looks like', async () => {
  for (const id of [randomUUID(), 'x', '%00', 'rec_1']) {
    expect((await request('GET', `/v1/replays/${id}`)).status).toBe(id === '%00' ? 400 : 404)
  }
})
