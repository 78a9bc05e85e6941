import { afterAll, beforeAll } from 'vitest'
import { createLog } from '../../src/process/log.ts'
import { type Serving, serve } from '../../src/process/serve.ts'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import { type ThrowawayDatabase, throwawayDatabase } from '../throwaway-postgres.ts'
import { type Answered, type CallOptions, call } from './call.ts'

/** The key that the served database's processes accept for everything. */
export const adminKey = 'the-admin-key-of-the-http-tests-0123456789'

export type ServedDatabase = {
  /** Base URLs of the processes' servers, all on one database. */
  urls: string[]
  /** Log lines of all of them. */
  lines: string[]
  /** A request to the first, with the admin key unless said otherwise. */
  request(method: string, path: string, options?: CallOptions): Promise<Answered>
}

/** `count` servers as the product starts them, on one real database of this file's own. Only to be called in a test. */
export function servedDatabase(count = 1): () => ServedDatabase {
  const lines: string[] = []
  let database: ThrowawayDatabase | undefined
  const serving: Serving[] = []
  beforeAll(async () => {
    database = await throwawayDatabase()
    await migrate({ target: database.connection })
    for (let at = 0; at < count; at++) {
      const options = {
        host: '127.0.0.1',
        port: 0,
        target: database.connection,
        databaseLabel: 'throwaway',
        adminKey,
        redisUrl: null,
        processes: count,
        sweepIntervalMs: 1000,
        pruneIntervalMs: 60_000,
        webRoot: null,
        targetAllowlist: null,
        version: '0.0.0-test',
      }
      serving.push(await serve(options, createLog('info', at, { write: (line) => lines.push(line) })))
    }
  })
  afterAll(async () => {
    await Promise.all(serving.map((one) => one.drain()))
    await database?.drop()
  })
  return () => {
    const urls = serving.map(({ port }) => `http://127.0.0.1:${port}`)
    const [url] = urls
    if (url === undefined) throw new Error('the servers are started before the first test')
    return { urls, lines, request: (method, path, options) => call(url, method, path, { key: adminKey, ...options }) }
  }
}
