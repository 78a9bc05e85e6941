import { type LookupView, lookupResponseSchema } from '@ranbook/contract'
import { expect, test } from 'vitest'
import { coldApp } from './cold-app.ts'

const app = await coldApp()
const { request, claim, sql } = app

/** More than one answer lists. */
const many = 210
let questions = 0

async function ask(q: string): Promise<LookupView> {
  const answer = await request('GET', `/v1/lookup?${new URLSearchParams({ q })}`)
  expect(answer.status).toBe(200)
  return lookupResponseSchema.parse(answer.json)
}

type Fate = 'completed' | 'running' | 'interrupted' | 'held' | 'failed' | 'dead' | 'ready'
type Claimed = { id: string; claim_token: string }

const settlements = {
  completed: { action: 'complete' },
  failed: { action: 'fail', error: { message: 'no' }, retry_after_ms: 60_000 },
  dead: { action: 'fail', error: { message: 'no' }, retryable: false },
  ready: { action: 'release' },
} as const

/** Claims that all ended so. */
async function claimed(claims: Record<string, unknown>[], fate: Fate): Promise<Claimed[]> {
  const answer = await request('POST', '/v1/claims/batch', { body: { claims } })
  const made: Claimed[] = answer.json.decisions.map(({ id, claim_token }) => {
    if (claim_token === null) throw new Error('each key is a new one')
    return { id, claim_token }
  })
  switch (fate) {
    case 'running':
      break
    case 'interrupted':
    case 'held':
      await sql`UPDATE record SET lease_expires_at = now() - interval '1 second', sweep_at = now() - interval '1 second'
        WHERE id = ANY (${made.map(({ id }) => id.slice(4))}::uuid[])`
      break
    default: {
      const body = { settlements: made.map((one) => ({ ...one, ...settlements[fate] })) }
      const settled = await request('POST', '/v1/settlements', { body })
      expect(settled.json.results.filter(({ ok }) => !ok)).toEqual([])
    }
  }
  return made
}

/** An old record of one fate and 210 newer ones of another that carry the same mention. */
async function oldAmongNewer(mention: Record<string, unknown>, old: Fate, newer: Fate): Promise<Claimed> {
  questions += 1
  const className = (fate: Fate): string => (fate === 'held' ? 'held.class' : 'many.class')
  const fields = (fate: Fate, n: number) => ({
    class: className(fate),
    consumer: 'worker',
    key: `${questions}:${n}`,
    ...mention,
  })
  const [first] = await claimed([fields(old, 0)], old)
  if (first === undefined) throw new Error('it was claimed')
  await sql`UPDATE record SET first_claimed_at = first_claimed_at - interval '1 hour' WHERE id = ${first.id.slice(4)}`
  await claimed(
    Array.from({ length: many }, (_, n) => fields(newer, n + 1)),
    newer,
  )
  return first
}

await request('PUT', '/v1/classes/held.class', { body: { on_lease_expiry: 'hold' } })

test.each([
  { mention: 'reference', fields: { refs: ['cust_9'] }, q: 'cust_9' },
  { mention: 'source#seq', fields: { source: 'shop', seq: 7 }, q: 'shop#7' },
])('a run stands in the answer to a $mention, however many newer records were given up', async ({ fields, q }) => {
  const first = await oldAmongNewer(fields, 'completed', 'dead')
  const { verdict, records, sentence, more } = await ask(q)
  expect({ verdict, more, count: records.length }).toEqual({ verdict: 'ran', more: true, count: 200 })
  expect(records.at(-1)).toMatchObject({ id: first.id, verdict: 'ran' })
  expect(sentence).toMatch(/^many\.class "\d+:0" ran once: worker completed it .*; at least 200 other records match \(/)
})

test.each([
  { old: 'running', newer: 'dead' },
  { old: 'interrupted', newer: 'failed' },
  { old: 'held', newer: 'dead' },
  { old: 'failed', newer: 'dead' },
  { old: 'dead', newer: 'ready' },
  { old: 'completed', newer: 'interrupted' },
  { old: 'completed', newer: 'running' },
] as const)('one that is $old outweighs 210 newer ones that are $newer', async ({ old, newer }) => {
  const first = await oldAmongNewer({ refs: [`${old} among ${newer}`] }, old, newer)
  const answer = await ask(`${old} among ${newer}`)
  expect(answer.verdict).toBe(old === 'completed' ? 'ran' : old)
  expect(answer.records.at(-1)).toMatchObject({ id: first.id })
})

test('behind more interrupted ones than are looked at one may be running: unknown, and the sentence says what was seen', async () => {
  await oldAmongNewer({ refs: ['busy'] }, 'running', 'interrupted')
  const { verdict, sentence, records } = await ask('busy')
  expect(verdict).toBe('unknown')
  expect(records).toHaveLength(200)
  expect(sentence).toMatch(
    /^At least 20\d records have the key, id or reference "busy" and none of them completed, yet whether one is running is unknown: /,
  )
})

test('of a key in more classes than are listed, the run decides and all are counted', async () => {
  const fields = (n: number) => ({ class: `kind.${n}`, consumer: 'worker', key: 'everywhere' })
  const [first] = await claimed([fields(0)], 'completed')
  if (first === undefined) throw new Error('it was claimed')
  await sql`UPDATE record SET first_claimed_at = first_claimed_at - interval '1 hour' WHERE id = ${first.id.slice(4)}`
  await claimed(
    Array.from({ length: many }, (_, n) => fields(n + 1)),
    'dead',
  )
  const { verdict, records, sentence, more } = await ask('everywhere')
  expect({ verdict, more, count: records.length }).toEqual({ verdict: 'ran', more: true, count: 200 })
  expect(records.at(-1)).toMatchObject({ id: first.id, class: 'kind.0' })
  expect(sentence).toMatch(/^kind\.0 "everywhere" ran once: .*; 210 other records match \(/)
  expect(await claim({ class: 'kind.0', consumer: 'worker', key: 'everywhere' })).toMatchObject({
    outcome: 'duplicate',
  })
})
