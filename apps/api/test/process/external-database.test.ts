import { expect, test, vi } from 'vitest'
import type { EmbeddedConnection } from '../../src/stores/postgres/embedded-ready.ts'
import { openForTest } from '../embedded/open-for-test.ts'
import { query } from '../embedded/query.ts'
import { temporaryDataDir } from '../embedded/temporary-data-dir.ts'
import { throwawayDatabase } from '../throwaway-postgres.ts'
import { type Ranbook, spawnRanbook, startRanbook, testAdminKey } from './start-ranbook.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'
import { workersOf } from './workers-of.ts'

/** A PostgreSQL that keeps what it acknowledged, as an operator's own does, and its DATABASE_URL. */
async function durableDatabase(
  cutAt?: string,
): Promise<{ connection: EmbeddedConnection; proxy: TcpProxy; url: string }> {
  const { connection } = await openForTest(await temporaryDataDir(), { fsync: true })
  const proxy = await tcpProxy(connection.path, cutAt)
  return { connection, proxy, url: urlOf(connection, proxy) }
}

function urlOf({ user, database }: EmbeddedConnection, { port }: TcpProxy): string {
  return `postgres://${user}:canary-password@127.0.0.1:${port}/${database}`
}

/** What the log says once, at the first failed try. */
const waitsForDatabase = 'The database can not be reached and is tried again'

async function stopped(server: Ranbook): Promise<void> {
  server.process.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
}

test('on an external database the first start makes an admin key in it and shows it once', async () => {
  const { connection, url } = await durableDatabase()
  const environment = { DATABASE_URL: url, RANBOOK_ADMIN_KEY: '' }
  const first = await startRanbook(environment)
  const key = /Admin key {2}(rbk_\w+)/.exec(first.stdout())?.[1] ?? ''
  const authorization = `Bearer ${key}`
  expect(await (await fetch(`${first.url}/v1/me`, { headers: { authorization } })).json()).toMatchObject({
    actions: ['claim', 'read', 'operate', 'admin'],
  })
  await stopped(first)

  const second = await startRanbook(environment)
  expect(second.stdout()).not.toContain(key)
  expect(second.stdout()).toContain('the admin key that the first start on this database showed')
  expect((await fetch(`${second.url}/v1/me`, { headers: { authorization } })).status).toBe(200)
  await stopped(second)

  expect(first.stdout() + first.stderr() + second.stdout() + second.stderr()).not.toContain('canary')
  const kept = await query(connection, `SELECT string_agg(t::text, ' ') AS text FROM api_key t`)
  expect(kept[0]?.['text']).not.toContain(key.slice(-43))
  expect(await query(connection, `SELECT actor, action FROM audit`)).toEqual([
    { actor: 'system', action: 'api_key.create' },
  ])
})

test('a database that is away answers 503 and is used again when it is back, without a restart', async () => {
  const { proxy, url } = await durableDatabase()
  const server = await startRanbook({ DATABASE_URL: url, LOG_LEVEL: 'fatal' })
  const claim = (key: string): ReturnType<Ranbook['call']> =>
    server.call('POST', '/v1/claims', { class: 'outage.test', consumer: 'w', key })
  expect((await claim('before')).status).toBe(201)

  proxy.cut()
  const response = await fetch(`${server.url}/v1/claims`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testAdminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ class: 'outage.test', consumer: 'w', key: 'during' }),
  })
  expect(response.status).toBe(503)
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  await vi.waitUntil(async () => (await fetch(`${server.url}/readyz`)).status === 503)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)

  proxy.mend()
  await vi.waitUntil(async () => (await fetch(`${server.url}/readyz`)).status === 200, { timeout: 10_000 })
  await vi.waitUntil(async () => (await claim('before')).body['outcome'] === 'in_progress', { timeout: 10_000 })
  await stopped(server)
})

test('a worker that has to be replaced while the database is away waits for it, and serves when it is back', async () => {
  const { proxy, url } = await durableDatabase()
  const server = await startRanbook({ DATABASE_URL: url, RANBOOK_WORKERS: '2', LOG_LEVEL: 'info' })
  const [victim = 0, ...others] = workersOf(server)
  proxy.cut()
  process.kill(victim, 'SIGKILL')
  await vi.waitUntil(() => server.stderr().includes(waitsForDatabase), { timeout: 20_000 })
  const replaced = workersOf(server)

  proxy.mend()
  await vi.waitUntil(() => server.stderr().includes('A worker process was replaced'), { timeout: 20_000 })
  expect(workersOf(server)).toEqual(replaced)
  expect(replaced).toEqual(expect.arrayContaining(others))
  expect(server.stderr().match(/ended unexpectedly/g)).toHaveLength(1)
  await stopped(server)
})

test('a database that goes away just before the server serves from it is waited for', async () => {
  // What is asked at last before it serves, when the schema stands.
  const { proxy, url } = await durableDatabase('server_version_num')
  const server = spawnRanbook({ DATABASE_URL: url })
  await vi.waitUntil(() => server.stderr().includes(waitsForDatabase), { timeout: 20_000 })
  expect(server.stdout()).toBe('')
  proxy.mend()
  await vi.waitUntil(() => server.stdout().includes('is ready at'), { timeout: 20_000 })
  server.process.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
})

test('a database that is away does not keep a server from draining', async () => {
  const { proxy, url } = await durableDatabase()
  const server = await startRanbook({ DATABASE_URL: url, LOG_LEVEL: 'fatal' })
  proxy.cut()
  await stopped(server)
})

test('a schema of a newer version ends the start with a sentence and is left as it is', async () => {
  const { connection, url } = await durableDatabase()
  await stopped(await startRanbook({ DATABASE_URL: url }))
  await query(connection, `INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES ('from the future', 1)`)
  const { ended, stderr } = spawnRanbook({ DATABASE_URL: url })
  expect(await ended).toEqual({ code: 1, signal: null })
  expect(stderr()).toMatch(/^The database was migrated by a newer Ranbook .+\.\n$/)
})

test('a database that may lose what it acknowledged is refused with a sentence, untouched', async () => {
  const { connection, drop } = await throwawayDatabase()
  const { ended, stderr } = spawnRanbook({ DATABASE_URL: urlOf(connection, await tcpProxy(connection.path)) })
  expect(await ended).toEqual({ code: 1, signal: null })
  expect(stderr()).toMatch(/^The database runs with fsync=off .+\.\n$/)
  expect(await query(connection, `SELECT to_regclass('record') AS record`)).toEqual([{ record: null }])
  await drop()
})

test.each([
  ['a database that is not there', (url: string) => url.replace(/\/\w+$/, '/nowhere'), 'has no such database'],
  [
    'a user that may not sign in',
    (url: string) => url.replace('//ranbook:', '//stranger:'),
    'refuses this user or password',
  ],
])('%s ends the start at once with a sentence that names DATABASE_URL', async (_, wrong, reason) => {
  const { url } = await durableDatabase()
  const { ended, stderr } = spawnRanbook({ DATABASE_URL: wrong(url) })
  expect(await ended).toEqual({ code: 1, signal: null })
  expect(stderr()).toMatch(/^DATABASE_URL: PostgreSQL at 127\.0\.0\.1:\d+\/\w+ .+\.\n$/)
  expect(stderr()).toContain(reason)
})
