import { randomUUID } from 'node:crypto'
import type { PolicyInput } from '@ranbook/contract'
import { policyPreviewSchema, retentionListSchema } from '@ranbook/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { prune } from '../../src/ledger/prune.ts'
import { coldApp } from '../cold/cold-app.ts'
import { expectProblem } from '../http/expect-problem.ts'

const app = await coldApp()
const dayMs = 86_400_000

async function put(name: string, policy: PolicyInput): Promise<void> {
  const answer = await app.request('PUT', `/v1/classes/${name}`, { body: policy })
  if (answer.status > 201) throw new Error(answer.text)
}

/** Completed records of a class, one of each age in days. */
async function completed(name: string, ages: readonly number[]): Promise<void> {
  for (const [at, days] of ages.entries()) {
    const claim = await app.claim({ class: name, consumer: 'billing', key: `k${at}`, claim_token: randomUUID() })
    const body = { claim_token: claim.claim_token }
    await app.request('POST', `/v1/claims/${claim.id}/complete`, { body })
    await app.sql`
      UPDATE record SET ended_at = now() - ${days} * interval '1 day', claimed_at = now() - ${days} * interval '1 day',
        first_claimed_at = now() - ${days} * interval '1 day' WHERE id = ${claim.id.slice(4)}`
  }
}

async function preview(name: string, policy: PolicyInput, key?: string) {
  const answer = await app.request(
    'POST',
    `/v1/classes/${name}/preview`,
    key ? { body: policy, key } : { body: policy },
  )
  expect(answer.status).toBe(200)
  return policyPreviewSchema.parse(answer.json)
}

beforeAll(async () => {
  await put('a.kept', { details_retention_ms: 10 * dayMs, key_retention_ms: 30 * dayMs })
  await completed('a.kept', [1, 12, 20, 40])
  await completed('b.plain', [1, 12])
})

describe('a preview', () => {
  test('counts what a policy would erase and forget, and the present one not', async () => {
    expect(await preview('a.kept', { details_retention_ms: 5 * dayMs, key_retention_ms: 15 * dayMs })).toMatchObject({
      affected: { count: 4, more: false },
      erased: { count: 0, more: false },
      forgotten: { count: 1, more: false },
      move: null,
      warnings: [],
    })
    expect(await preview('b.plain', { details_retention_ms: 5 * dayMs })).toMatchObject({
      affected: { count: 2 },
      erased: { count: 1 },
      forgotten: { count: 0 },
    })
  })

  test('changes nothing', async () => {
    await preview('b.plain', { key_retention_ms: 1000 })
    expect(await app.sql`SELECT 1 FROM class_policy WHERE name = 'b.plain'`).toEqual([])
    expect(await app.sql`SELECT 1 FROM record WHERE class = 'b.plain'`).toHaveLength(2)
  })

  test('of a pattern counts the classes it would govern, those with a policy of their own left out', async () => {
    expect(await preview('*', { key_retention_ms: 5 * dayMs })).toMatchObject({
      affected: { count: 2 },
      forgotten: { count: 1 },
    })
  })

  test('tells of a move in a sentence, and until when the older store is asked', async () => {
    const moved = await preview('b.plain', { store: 'window', key_retention_ms: 3 * dayMs })
    expect(moved.move).toMatchObject({ from: 'ledger', to: 'window', classes: ['b.plain'] })
    expect(moved.move?.sentence).toMatch(/key_retention_ms, 3 d/)
    expect((await preview('b.plain', { store: 'window' })).move?.sentence).toMatch(/for ever/)
  })

  test('warns of a retention that its source outlasts instead of refusing it', async () => {
    const short = await preview('b.plain', { source_preset: 'stripe', key_retention_ms: dayMs })
    expect(short.warnings).toEqual([expect.stringMatching(/24 h.*3 d/)])
  })

  test('of a policy that can not be taken is refused as PUT would', async () => {
    const ask = (body: unknown) => app.request('POST', '/v1/classes/b.plain/preview', { body })
    expectProblem(await ask({ store: 'window', ordering: 'track' }), 'invalid_policy')
    expectProblem(await ask({ source_preset: 'kafka', key_retention_ms: dayMs }), 'horizon_required')
    expectProblem(await ask({ leaseMs: 1 }), 'invalid_request')
  })

  test('shows nothing outside the scope', async () => {
    const key = await app.mint({ actions: ['read'], classes: ['a.*'] })
    const outside = await app.request('POST', '/v1/classes/b.plain/preview', { body: {}, key })
    expectProblem(outside, 'not_found')
  })
})

describe('GET /v1/retention', () => {
  test('shows what is due, and after a run what was done', async () => {
    const read = async () => {
      const answer = await app.request('GET', '/v1/retention')
      return retentionListSchema.parse(answer.json).data.find((row) => row.class === 'a.kept')
    }
    expect(await read()).toMatchObject({
      ...{ store: 'ledger', details_retention_ms: 10 * dayMs, key_retention_ms: 30 * dayMs },
      ...{ keys_complete_since: null, last_run: null, erased: 0, forgotten: 0 },
      due: { details: { count: 2, more: false }, keys: { count: 1, more: false } },
    })
    const { classes, retention } = app.deps
    await prune({ store: retention, policies: classes, monotonicMs: () => performance.now(), stopping: () => false })
    const after = await read()
    expect(after).toMatchObject({ erased: 2, forgotten: 1, due: { details: { count: 0 }, keys: { count: 0 } } })
    expect(after?.last_run).not.toBeNull()
    expect(after?.keys_complete_since).not.toBeNull()
  })

  test('comes in pages, by class, within the scope', async () => {
    const first = await app.request('GET', '/v1/retention?limit=1')
    expect(first.json.data.map((row) => (row as unknown as { class: string }).class)).toEqual(['a.kept'])
    const next = await app.request('GET', `/v1/retention?limit=1&cursor=${first.json.next_cursor}`)
    expect(next.json).toMatchObject({ data: [{ class: 'b.plain' }], next_cursor: null })
    const key = await app.mint({ actions: ['read'], classes: ['b.*'] })
    expect((await app.request('GET', '/v1/retention', { key })).json).toMatchObject({ data: [{ class: 'b.plain' }] })
  })
})
