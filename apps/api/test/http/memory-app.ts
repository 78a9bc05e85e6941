import { randomUUID } from 'node:crypto'
import { type Action, actions, type Policy } from '@ranbook/contract'
import { createMemoryStore, defaultPolicy, type MemoryStore } from '@ranbook/rules'
import type { Caller } from '../../src/access/caller.ts'
import { createApp } from '../../src/app.ts'
import type { HttpDeps } from '../../src/http/http-deps.ts'
import { createWaitRoom } from '../../src/ledger/claim-waiting.ts'
import { PoliciesStale } from '../../src/ledger/ledger-deps.ts'
import { noWindows } from '../../src/ledger/windows.ts'

/** The real app over the memory store, with everything around it in the test's hands. */
export type MemoryApp = {
  app: ReturnType<typeof createApp>
  deps: HttpDeps
  store: MemoryStore
  /** The store's clock, in ms. */
  clock: { now: number }
  /** By exact class; any other class is under the default policy. */
  policies: Map<string, Policy>
  /** API keys by name; `Bearer <name>` is the key. */
  keys: Map<string, Caller>
  state: { draining: boolean; ready: boolean; policiesFresh: boolean }
  lines: { level: string; message: string; fields: Record<string, unknown> }[]
  observed: string[]
}

/** What an API key of a test may do. */
export function keyOf(name: string, given: readonly Action[], classes = ['*'], consumer: string | null = null): Caller {
  return { actor: `key:${name}`, name, actions: new Set(given), scope: { classes, consumer }, expiresAt: null }
}

/**
 * `all` may do everything, `claim`, `read`, `operate` and `admin` that one thing, `bound` claims for the consumer
 * `bound` alone, `refunds` claims classes below `refund.` alone.
 */
export function memoryApp(overrides: Partial<HttpDeps> = {}): MemoryApp {
  const clock = { now: Date.UTC(2026, 10, 30, 10) }
  const store = createMemoryStore({ now: () => clock.now })
  const state = { draining: false, ready: true, policiesFresh: true }
  const policies = new Map<string, Policy>()
  const lines: MemoryApp['lines'] = []
  const observed: string[] = []
  const log = (level: string) => (fields: Record<string, unknown>, message: string) =>
    void lines.push({ level, message, fields })
  const keys = new Map<string, Caller>([
    ['all', keyOf('all', actions)],
    ...actions.map((action) => [action, keyOf(action, [action])] as const),
    ['bound', keyOf('bound', ['claim'], ['*'], 'bound')],
    ['refunds', keyOf('refunds', ['claim'], ['refund.*'])],
  ])
  const waitRoom = createWaitRoom({
    read: (_store, requests) => store.read(requests),
    draining: () => state.draining,
    random: () => 0.5,
  })
  const notUsed = (): never => {
    throw new Error('no route of this test needs it')
  }
  let requests = 0
  const deps: HttpDeps = {
    ledger: {
      store,
      windows: noWindows,
      policies: {
        policyFor: (name) => policies.get(name) ?? defaultPolicy,
        requireFresh: () => {
          if (!state.policiesFresh) throw new PoliciesStale('not read for 3 s')
        },
      },
      pairs: { has: () => true, add: notUsed },
      observer: {
        claimed: () => void observed.push('claimed'),
        answered: (outcome) => void observed.push(outcome),
        settled: (verb, record) => {
          observed.push(verb)
          waitRoom.wake(record.digest)
        },
        expired: () => void observed.push('expired'),
      },
      random: () => 0.5,
      newToken: randomUUID,
    },
    waitRoom,
    access: {
      authenticate: (authorization) => keys.get(/^Bearer (.+)$/.exec(authorization ?? '')?.[1] ?? '') ?? null,
      list: notUsed,
      create: notUsed,
      revoke: notUsed,
    },
    audit: { ofRecord: async () => [], write: notUsed },
    targets: { refusal: () => null },
    classes: new Proxy({} as HttpDeps['classes'], { get: notUsed }),
    stats: { read: notUsed },
    attention: new Proxy({} as HttpDeps['attention'], { get: notUsed }),
    storeWarnings: notUsed,
    replays: {
      ofRecord: async () => [],
      create: notUsed,
      read: notUsed,
      list: notUsed,
      items: notUsed,
      change: notUsed,
      step: notUsed,
    },
    monotonicMs: () => 0,
    retention: new Proxy({} as HttpDeps['retention'], { get: notUsed }),
    health: {
      readiness: async () => ({ ready: state.ready, stores: { postgres: { ok: state.ready, note: null } } }),
      draining: () => state.draining,
    },
    metrics: {
      exposition: async () => ({ contentType: 'text/plain; version=0.0.4', text: 'ranbook_up 1\n' }),
      observeRequest: () => {},
    },
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    webRoot: null,
    version: '0.0.0-test',
    newRequestId: () => `request-${++requests}`,
    ...overrides,
  }
  return { app: createApp(deps), deps, store, clock, policies, keys, state, lines, observed }
}
