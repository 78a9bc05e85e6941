import { randomUUID } from 'node:crypto'
import type { PolicyInput } from '@ranbook/contract'
import { parseRecordId, type RetentionStore } from '@ranbook/rules'
import type { Row, Sql } from 'postgres'
import { prune } from '../../src/ledger/prune.ts'
import { type ColdApp, type ColdJson, coldApp } from '../cold/cold-app.ts'

/** The app with what tests of retention do all the time. */
export type RetentionApp = ColdApp & {
  put(name: string, policy: PolicyInput): Promise<void>
  /** Claims a key with owner, payload and a reference. */
  take(name: string, key: string, fields?: Record<string, unknown>): Promise<ColdJson>
  settle(record: ColdJson, verb: string, body?: Record<string, unknown>): Promise<ColdJson>
  /** A record that was completed so many days ago. */
  completed(name: string, key: string, days: number): Promise<ColdJson>
  /** That many records of a class, beside one of it that stands, completed two days ago. */
  fill(name: string, count: number): Promise<void>
  /** As if its last attempt had ended, or its lease begun, so many days ago. */
  age(id: string, days: number): Promise<void>
  /** One run of retention, with the policies as they stand. */
  run(store?: RetentionStore): Promise<void>
  stored(id: string): Promise<Row | undefined>
}

export const dayMs = 86_400_000

/** One per test file. `prepare` runs before the app reads anything. */
export async function retentionApp(prepare?: (sql: Sql) => Promise<unknown>): Promise<RetentionApp> {
  const app = await coldApp(prepare)
  const { sql } = app

  const put: RetentionApp['put'] = async (name, policy) => {
    const answer = await app.request('PUT', `/v1/classes/${name}`, { body: policy })
    if (answer.status > 201) throw new Error(answer.text)
  }
  const take: RetentionApp['take'] = (name, key, fields = {}) => {
    const details = { owner: 'billing-1', payload: { n: 1 }, refs: ['order:1'] }
    return app.claim({ class: name, consumer: 'billing', key, claim_token: randomUUID(), ...details, ...fields })
  }
  const settle: RetentionApp['settle'] = async (record, verb, body = {}) => {
    const path = `/v1/claims/${record.id}/${verb}`
    return (await app.request('POST', path, { body: { claim_token: record.claim_token, ...body } })).json
  }
  const age: RetentionApp['age'] = async (id, days) => {
    await sql`
      UPDATE record SET first_claimed_at = first_claimed_at - ${days} * interval '1 day',
        claimed_at = claimed_at - ${days} * interval '1 day', ended_at = ended_at - ${days} * interval '1 day'
      WHERE id = ${digestOf(id)}`
  }

  return {
    ...app,
    put,
    take,
    settle,
    age,
    async completed(name, key, days) {
      const record = await take(name, key)
      await settle(record, 'complete', { result: { ok: true } })
      await age(record.id, days)
      return record
    },
    async fill(name, count) {
      await sql`
        INSERT INTO record (id, claim_token, fencing_token, first_claimed_at, claimed_at, ended_at, version, generation,
          attempt, lease_ms, state, on_lease_expiry, class, consumer, key)
        SELECT gen_random_uuid(), gen_random_uuid(), nextval('fencing_token'), now() - interval '3 days',
          now() - interval '3 days', now() - interval '2 days', 2, 1, 1, 60000, 2, 1, ${name}, 'billing', 'k' || n
        FROM generate_series(1, ${count}) AS n`
    },
    async run(store = app.deps.retention) {
      await app.refresh()
      // Nothing re-reads them while it runs, as the service does.
      const policies = { ...app.deps.classes, requireFresh: () => {} }
      await prune({ store, policies, monotonicMs: () => performance.now(), stopping: () => false })
    },
    async stored(id) {
      const [row] = await sql`SELECT * FROM record WHERE id = ${digestOf(id)}`
      return row
    },
  }
}

/** The digest in a record's id, for SQL. */
export function digestOf(id: string): string {
  const digest = parseRecordId(id)?.digest
  if (digest === undefined) throw new Error(`${id} is no id of a record`)
  return digest
}
