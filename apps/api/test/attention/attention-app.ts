import { type AttentionKind, type AttentionView, attentionSchema } from '@ranbook/contract'
import { beforeEach, expect } from 'vitest'
import { createPairRegistry } from '../../src/ledger/create-pair-registry.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { type ColdApp, coldApp } from '../cold/cold-app.ts'

/** The app, with what tests of attention do with it. */
type AttentionApp = ColdApp & {
  /** Everything under attention, for the admin or the key given. */
  attention(key?: string): Promise<AttentionView>
  /** Puts times of a record back, to where a clock would have left them. */
  age(id: string, interval: string): Promise<unknown>
  fail(claimed: { id: string; claim_token: string }, retryable: boolean): Promise<unknown>
}

/** One per test file. Before each test it knows two reviewed classes, `charge` that holds and `mail`, and no record. */
export async function attentionApp(): Promise<AttentionApp> {
  const app = await coldApp()
  const { sql, request } = app

  beforeEach(async () => {
    await sql`TRUNCATE record, attempt, late_completion, mismatch_tally, class_seen, class_policy, class_review, window_loss`
    await sql`UPDATE setting SET value = to_json(value::text::bigint + 1) WHERE name = 'policy_revision'`
    await app.refresh()
    await request('PUT', '/v1/classes/charge', { body: { on_lease_expiry: 'hold' } })
    await request('PUT', '/v1/classes/mail', { body: {} })
    app.deps.ledger.pairs = createPairRegistry(createClassStore(app.cold), {
      policyRevision: app.deps.classes.policyRevision,
      refresh: app.refresh,
    })
    app.warnings.length = 0
  })

  return {
    ...app,
    async attention(key) {
      const answer = await request('GET', '/v1/attention', key === undefined ? {} : { key })
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
      return attentionSchema.parse(answer.json)
    },
    age: (id, interval) => sql`
      UPDATE record SET
        lease_expires_at = lease_expires_at - ${interval}::interval, ended_at = ended_at - ${interval}::interval,
        available_at = available_at - ${interval}::interval, sweep_at = NULL
      WHERE id = ${id.slice(4)}::uuid`,
    fail: ({ id, claim_token }, retryable) =>
      request('POST', `/v1/claims/${id}/fail`, {
        body: { claim_token, error: { message: 'card "declined"' }, retryable },
      }),
  }
}

/** The items of one kind. */
export function itemsOf({ items }: AttentionView, kind: AttentionKind): AttentionView['items'] {
  return items.filter((item) => item.kind === kind)
}

/** The counts that are not zero. */
export function counts(view: AttentionView): Record<string, number> {
  return Object.fromEntries(Object.entries(view.counts).filter(([, count]) => count > 0))
}
