import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test, vi } from 'vitest'
import { processesIn } from '../embedded/processes-in.ts'
import { query } from '../embedded/query.ts'
import { temporaryDataDir } from '../embedded/temporary-data-dir.ts'
import { startRanbook } from '../process/start-ranbook.ts'
import { killHard } from './kill-hard.ts'

/** More for a release: REPLAYED_RECORDS=10000. */
const records = Number(process.env['REPLAYED_RECORDS'] ?? 3000)
/** When the service is killed: while it arms, and while it pushes. */
const killsAt = { armed: records / 10, received: records / 5 }
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test(`a replay of ${records} records whose service is killed -9 twice arms and pushes each record once, a push perhaps again with its id`, async () => {
  const pushed = new Map<string, Set<string>>()
  const forged: string[] = []
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      try {
        const event = new Webhook(secret).verify(body, request.headers as Record<string, string>) as { id: string }
        const ids = pushed.get(event.id) ?? new Set()
        pushed.set(event.id, ids.add(String(request.headers['webhook-id'])))
      } catch (error) {
        forged.push(String(error))
      }
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`

  const dataDir = await temporaryDataDir()
  const environment = { RANBOOK_DATA_DIR: dataDir }
  let server = await startRanbook(environment)
  const connection = { path: join(dataDir, 'sock', '.s.PGSQL.5432'), user: 'ranbook', database: 'postgres' }
  await server.call('PUT', '/v1/classes/order.lost', { replay_target: { url, secret } })
  await server.call('POST', '/v1/claims', { class: 'order.lost', consumer: 'c', key: 'seed' })
  await query(
    connection,
    `INSERT INTO record (id, claim_token, fencing_token, first_claimed_at, claimed_at, ended_at, version, generation,
         attempt, lease_ms, state, cause, on_lease_expiry, class, consumer, key, payload)
       SELECT gen_random_uuid(), gen_random_uuid(), nextval('fencing_token'), t.at, t.at, t.at, 2, 1, 1, 60000, 4, 3, 1,
         'order.lost', 'c', 'k' || n, '{"n": 1}'
       FROM (SELECT n, now() - interval '1 day' - n * interval '1 ms' AS at FROM generate_series(1, ${records}) AS n) AS t`,
  )
  const killed = async (): Promise<void> => {
    await killHard([server.pid, ...processesIn(dataDir)])
    server = await startRanbook(environment)
  }

  const made = await server.call('POST', '/v1/replays', {
    ...{ filter: { class: 'order.lost', state: 'dead' }, reason: 'the warehouse lost them' },
    ...{ delivery: 'push', idempotency: 'same' },
  })
  expect(made).toMatchObject({ status: 202, body: { state: 'running', count: records } })
  const standing = async () => (await server.call('GET', `/v1/replays/${made.body['id']}`)).body
  const until = (reached: () => Promise<boolean> | boolean) => vi.waitUntil(reached, { timeout: 120_000, interval: 50 })

  await until(async () => Number((await standing())['armed']) >= killsAt.armed)
  expect(await standing()).toMatchObject({ state: 'running' })
  await killed()
  await until(() => pushed.size >= killsAt.received)
  expect(await standing()).toMatchObject({ state: 'running' })
  await killed()
  await until(async () => (await standing())['state'] === 'finished')

  expect(await standing()).toMatchObject({ armed: records, left_out: 0, pushed: records, push_failed: 0 })
  expect(forged).toEqual([])
  expect(pushed.size).toBe(records)
  expect([...pushed.values()].filter((ids) => ids.size !== 1)).toEqual([])
  const [stood] = await query(
    connection,
    `SELECT count(*) FILTER (WHERE state = 7 AND version = 3 AND generation = 1)::int AS armed,
         (SELECT count(DISTINCT record_id)::int FROM replay_item) AS items, (SELECT count(*)::int FROM replay_item) AS met
       FROM record WHERE class = 'order.lost' AND key <> 'seed'`,
  )
  expect(stood).toEqual({ armed: records, items: records, met: records })
  server.process.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
}, 300_000)
