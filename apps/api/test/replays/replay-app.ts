import { randomUUID } from 'node:crypto'
import type { ReplayDocument } from '@ranbook/contract'
import { replayRules } from '../../src/ledger/replay-rules.ts'
import { runReplays } from '../../src/ledger/run-replays.ts'
import { type ColdApp, type ColdJson, coldApp } from '../cold/cold-app.ts'
import type { CallOptions } from '../http/call.ts'

/** The app with what tests of replays do all the time. */
export type ReplayApp = ColdApp & {
  /** A record that stands so, of class `order.paid` and consumer `billing` unless said otherwise. */
  record(key: string, state: 'completed' | 'failed' | 'dead' | 'claimed', fields?: object): Promise<ColdJson>
  /** Claims the key anew. */
  deliver(key: string, fields?: object): Promise<ColdJson>
  settle(record: ColdJson, verb: string, body?: object): Promise<ColdJson & { code?: string }>
  /** `POST /v1/replays` with a reason, rearm and the same idempotency key unless given. */
  replay(fields: object, options?: CallOptions): Promise<ReplayDocument>
  /** Everything that replays have to do, as the service would. */
  run(): Promise<void>
  /** The replay as it stands. */
  standing(id: string): Promise<ReplayDocument & { records: { data: { record_id: string; outcome: string }[] } }>
}

/** One per test file. */
export async function replayApp(): Promise<ReplayApp> {
  const app = await coldApp()
  const { replays, classes } = app.deps
  const of = (key: string, fields: object) => ({ class: 'order.paid', consumer: 'billing', key, ...fields })

  const settle: ReplayApp['settle'] = async (record, verb, body = {}) => {
    const path = `/v1/claims/${record.id}/${verb}`
    return (await app.request('POST', path, { body: { claim_token: record.claim_token, ...body } })).json
  }
  const deliver: ReplayApp['deliver'] = async (key, fields = {}) =>
    (await app.request('POST', '/v1/claims', { body: { ...of(key, fields), claim_token: randomUUID() } })).json

  return {
    ...app,
    settle,
    deliver,
    async record(key, state, fields = {}) {
      const record = await deliver(key, fields)
      const error = { message: 'no' }
      if (state === 'completed') await settle(record, 'complete', { result: { of: key } })
      if (state === 'failed') await settle(record, 'fail', { error, retry_after_ms: 600_000 })
      if (state === 'dead') await settle(record, 'fail', { error, retryable: false })
      return record
    },
    async replay(fields, options = {}) {
      const body = { reason: 'the provider lost it', delivery: 'rearm', idempotency: 'same', ...fields }
      const answer = await app.request('POST', '/v1/replays', { body, ...options })
      if (answer.status !== 202) throw new Error(answer.text)
      return answer.json as unknown as ReplayDocument
    },
    async run() {
      await app.refresh()
      const rules = replayRules(classes)
      await runReplays({ store: replays, rules, monotonicMs: () => performance.now(), stopping: () => false })
    },
    async standing(id) {
      const answer = await app.request('GET', `/v1/replays/${id}?limit=200`)
      if (answer.status !== 200) throw new Error(answer.text)
      return answer.json as unknown as Awaited<ReturnType<ReplayApp['standing']>>
    },
  }
}
