import { join } from 'node:path'
import type { WindowLossCause } from '@ranbook/rules'
import { expect } from 'vitest'
import { query } from '../embedded/query.ts'
import { begunDataDir } from '../embedded/temporary-data-dir.ts'
import { type Ranbook, startRanbook } from '../process/start-ranbook.ts'

/** A declared span, times in ms since 1970. */
export type Span = { class: string | null; cause: WindowLossCause; fromAt: number; toAt: number; untilAt: number }

export type Answer = { status: number; body: Record<string, unknown> }

/** The service with a Redis, its classes, and what it declared. */
export type WindowService = {
  server: Ranbook
  /** `lease_ms` is long: a claim stays its owner's for the test. */
  claim(className: string, key: string, token?: string): Promise<Answer>
  complete(id: unknown, token: unknown): Promise<Answer>
  /** Every span in the database. */
  spans(): Promise<Span[]>
  /** What readiness says of Redis. It never keeps the service from being ready. */
  redisOk(): Promise<boolean>
  /** Ends it in order. */
  stop(): Promise<void>
}

/** Longer than any of these tests: a second grant of a key is one inside its window. */
const windowMs = 600_000

/** Starts the service on a database of its own, with `cache.refuse` and `cache.fall_back` kept in windows. */
export async function startWindowService(
  redisUrl: string,
  environment: Record<string, string> = {},
): Promise<WindowService> {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir, REDIS_URL: redisUrl, ...environment })
  for (const window_outage of ['refuse', 'fall_back']) {
    const policy = { store: 'window', window_outage, window_ms: windowMs, lease_ms: windowMs, reason: 'of the test' }
    const put = await server.call('PUT', `/v1/classes/cache.${window_outage}`, policy)
    expect(put).toMatchObject({ status: 201 })
  }
  const service: WindowService = {
    server,
    claim: (className, key, token) =>
      server.call('POST', '/v1/claims', {
        class: className,
        consumer: 'observer',
        key,
        ...(token === undefined ? {} : { claim_token: token }),
      }),
    complete: (id, token) => server.call('POST', `/v1/claims/${id}/complete`, { claim_token: token }),
    spans: async () => {
      const connection = { path: join(dataDir, 'sock', '.s.PGSQL.5432'), user: 'ranbook', database: 'postgres' }
      const rows = await query(
        connection,
        `SELECT class, cause, extract(epoch FROM from_at)::float8 * 1000 AS from_at,
                extract(epoch FROM to_at)::float8 * 1000 AS to_at, extract(epoch FROM until_at)::float8 * 1000 AS until_at
         FROM window_loss ORDER BY id`,
      )
      return rows.map((row) => ({
        class: row['class'],
        cause: row['cause'],
        fromAt: Math.round(row['from_at']),
        toAt: Math.round(row['to_at']),
        untilAt: Math.round(row['until_at']),
      }))
    },
    redisOk: async () => {
      const response = await fetch(`${server.url}/readyz`)
      expect(response.status).toBe(200)
      const { stores } = (await response.json()) as { stores: Record<string, { ok: boolean }> }
      return stores['redis']?.ok === true
    },
    stop: async () => {
      server.process.kill('SIGTERM')
      expect(await server.ended).toEqual({ code: 0, signal: null })
    },
  }
  return service
}
