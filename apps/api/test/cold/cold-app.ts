import { randomBytes, randomUUID } from 'node:crypto'
import type { Action, RecordView } from '@ranbook/contract'
import { parseRecordId, type StoreWarning } from '@ranbook/rules'
import type { Sql } from 'postgres'
import { createAccessBook } from '../../src/access/create-access-book.ts'
import { createAuditBook } from '../../src/access/create-audit-book.ts'
import { createApp } from '../../src/app.ts'
import { createTargetRules } from '../../src/delivery/target-rules.ts'
import type { HttpDeps } from '../../src/http/http-deps.ts'
import { createWaitRoom } from '../../src/ledger/claim-waiting.ts'
import { createClassBook } from '../../src/ledger/create-class-book.ts'
import { createPairRegistry } from '../../src/ledger/create-pair-registry.ts'
import { createWindows } from '../../src/ledger/create-windows.ts'
import { readById } from '../../src/ledger/read-by-id.ts'
import { createAttentionStore } from '../../src/stores/postgres/attention-store.ts'
import { createAuditStore } from '../../src/stores/postgres/audit-store.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import type { ColdConnections } from '../../src/stores/postgres/cold-connections.ts'
import { createKeyStore } from '../../src/stores/postgres/key-store.ts'
import { createReplayStore } from '../../src/stores/postgres/replay-store.ts'
import { createRetentionStore } from '../../src/stores/postgres/retention-store.ts'
import { createStatsStore } from '../../src/stores/postgres/stats-store.ts'
import { type Answered, type AnyJson, type CallOptions, call } from '../http/call.ts'
import { coldDatabase } from './cold-database.ts'

/** Any answer's JSON, each member as if it were there: the test that reads it says what it must be. */
export type ColdJson = AnyJson & {
  secret: string
  claim_token: string
  version: number | null
  reviewed: boolean
  current: RecordView
  records: Row[]
  late_completions: Row[]
  audit: Row[]
  data: Row[]
  next_cursor: string | null
}
type Row = { id: string; name: string; version: number; consumers: string[] }

type ColdAnswer = Omit<Answered, 'json'> & { json: ColdJson }

type GivenScopes = { actions: Action[]; classes?: string[]; consumer?: string | null }

/** The app as it runs, on a database of this test file's own. Requests carry the admin key unless another is given. */
export type ColdApp = {
  sql: Sql
  deps: HttpDeps
  cold: ColdConnections
  request(method: string, path: string, options?: CallOptions): Promise<ColdAnswer>
  /** Makes an API key through the API; all classes and consumers unless given. */
  mint(scopes: GivenScopes): Promise<string>
  /** Claims through the API; answers the decision. */
  claim(fields: Record<string, unknown>): Promise<ColdJson>
  /** Puts the end of a claim's lease into the past, where the clock would bring it in the end. */
  expire(id: string): Promise<void>
  /** What the log was told of answers with 500. */
  faults: Record<string, unknown>[]
  /** What the process would know of its stores. */
  warnings: StoreWarning[]
  /** Lets this process know what was written past it. */
  refresh(): Promise<void>
}

const failed = (error: unknown): never => {
  throw error
}

const adminKey = 'the-admin-key-of-the-tests-0123456789'

/** One per test file. `prepare` runs before the app reads anything. */
export async function coldApp(prepare: (sql: Sql) => Promise<unknown> = async () => {}): Promise<ColdApp> {
  const { sql, open } = await coldDatabase()
  await prepare(sql)
  const { records, windows: windowCells, cold } = await open()
  const classStore = createClassStore(cold)
  const monotonicMs = () => performance.now()
  const classes = await createClassBook({ store: classStore, monotonicMs })
  const keys = createKeyStore(cold)
  const access = await createAccessBook({ keys, adminKey, now: Date.now, monotonicMs, randomBytes })
  const windows = createWindows({ classes, store: classStore, postgres: windowCells, redis: null, failed })
  const waitRoom = createWaitRoom({
    read: (store, requests) => readById({ store: records, windows }, store, requests),
    draining: () => false,
    random: Math.random,
  })
  const faults: ColdApp['faults'] = []
  const warnings: ColdApp['warnings'] = []
  const deps: HttpDeps = {
    ledger: {
      store: records,
      windows,
      policies: classes,
      pairs: createPairRegistry(classStore, classes),
      observer: {
        claimed: () => {},
        answered: () => {},
        settled: (_verb, record) => waitRoom.wake(record.digest),
        expired: () => {},
      },
      random: Math.random,
      newToken: randomUUID,
    },
    waitRoom,
    access,
    audit: createAuditBook(createAuditStore(cold)),
    classes,
    targets: createTargetRules(null),
    retention: createRetentionStore(cold),
    replays: createReplayStore(cold),
    monotonicMs,
    stats: createStatsStore(cold),
    attention: createAttentionStore(cold),
    storeWarnings: () => warnings,
    health: { readiness: async () => ({ ready: true, stores: {} }), draining: () => false },
    metrics: { exposition: async () => ({ contentType: 'text/plain', text: '' }), observeRequest: () => {} },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: (fields) => void faults.push(fields) },
    webRoot: null,
    version: '0.0.0-test',
    newRequestId: randomUUID,
  }
  const app = createApp(deps)
  const refresh = async () => void (await Promise.all([classes.refresh(), access.refresh(), access.noteUses()]))
  const request: ColdApp['request'] = async (method, path, options = {}) => {
    await refresh()
    return (await call(app, method, path, { key: adminKey, ...options })) as ColdAnswer
  }
  return {
    sql,
    deps,
    cold,
    faults,
    warnings,
    request,
    refresh,
    async mint({ actions, classes: patterns = ['*'], consumer = null }) {
      const scopes = { actions, classes: patterns, consumer }
      const made = await request('POST', '/v1/api-keys', { body: { name: 'minted', scopes } })
      if (made.status !== 201) throw new Error(made.text)
      return made.json.secret
    },
    async claim(fields) {
      const answer = await request('POST', '/v1/claims', { body: fields })
      return answer.json
    },
    async expire(id) {
      const digest = parseRecordId(id)?.digest ?? null
      await sql`UPDATE record SET lease_expires_at = now() - interval '1 second', sweep_at = now() - interval '1 second' WHERE id = ${digest}`
    },
  }
}
