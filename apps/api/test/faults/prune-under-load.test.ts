import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { query } from '../embedded/query.ts'
import { temporaryDataDir } from '../embedded/temporary-data-dir.ts'
import { type Ranbook, startRanbook, testAdminKey } from '../process/start-ranbook.ts'

/** A release prunes a million, PRUNED_RECORDS=1000000, on a machine that does nothing else. */
const given = process.env['PRUNED_RECORDS']
const dueRecords = Number(given ?? 30_000)
/** How much slower the slowest hundredth of claims may be beside it. Few records are pruned in seconds, which say less. */
const slowerMax = given === undefined ? 4 : 2
const clients = 16
const secondsWithout = 4
const dayMs = 86_400_000

test(
  `${dueRecords} due records are pruned while claims run, whose p99 is at most ${slowerMax} times that without pruning`,
  async () => {
    const dataDir = await temporaryDataDir()
    const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir, RANBOOK_PRUNE_INTERVAL_MS: '100' })
    const connection = { path: join(dataDir, 'sock', '.s.PGSQL.5432'), user: 'ranbook', database: 'postgres' }
    const forgotten = async (): Promise<number> => {
      const [row] = await query(connection, `SELECT forgotten::int FROM class_retention WHERE class = 'due.old'`)
      return Number(row?.['forgotten'] ?? 0)
    }
    await server.call('POST', '/v1/claims', { class: 'due.old', consumer: 'c', key: 'seed' })
    await query(
      connection,
      `INSERT INTO record (id, claim_token, fencing_token, first_claimed_at, claimed_at, ended_at, version, generation,
         attempt, lease_ms, state, on_lease_expiry, class, consumer, key, result)
       SELECT gen_random_uuid(), gen_random_uuid(), nextval('fencing_token'), t.at, t.at, t.at, 2, 1, 1, 60000, 2, 1,
         'due.old', 'c', 'k' || n, '{"ok": true}'
       FROM (SELECT n, now() - interval '3 days' - n * interval '1 ms' AS at FROM generate_series(1, ${dueRecords}) AS n) AS t`,
    )
    await query(connection, 'CHECKPOINT')

    const warm = claims(server, 'warm')
    await vi.waitUntil(() => warm.times.length > 500, { timeout: 20_000 })
    await warm.stop()
    const without = claims(server, 'without')
    const startedAt = performance.now()
    await vi.waitUntil(() => performance.now() - startedAt > secondsWithout * 1000, { timeout: 20_000 })
    await without.stop()

    await server.call('PUT', '/v1/classes/due.old', { key_retention_ms: dayMs })
    const beganAt = performance.now()
    const during = claims(server, 'during')
    await vi.waitUntil(async () => (await forgotten()) === dueRecords, { timeout: 60_000 + dueRecords, interval: 250 })
    await during.stop()
    const took = (performance.now() - beganAt) / 1000

    const [before, beside] = [percentile(without.times), percentile(during.times)]
    const rate = (load: Load, seconds: number): number => Math.round(load.times.length / seconds)
    process.stdout.write(
      `pruned ${dueRecords} in ${took.toFixed(1)} s; claims p99 ${before.toFixed(1)} ms without, ${beside.toFixed(1)} ms beside; ` +
        `${rate(without, secondsWithout)}/s without, ${rate(during, took)}/s beside\n`,
    )
    expect([...without.unexpected, ...during.unexpected]).toEqual([])
    expect(during.times.length).toBeGreaterThan(200)
    expect(beside / before).toBeLessThanOrEqual(slowerMax)
    server.process.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  },
  180_000 + dueRecords,
)

type Load = { times: number[]; unexpected: string[]; stop(): Promise<void> }

/** Clients that claim fresh keys, each its next one once it was answered; `times` are what each took, in ms. */
function claims(server: Ranbook, prefix: string): Load {
  const load = { times: [] as number[], unexpected: [] as string[] }
  let stopped = false
  const run = async (client: number): Promise<void> => {
    for (let at = 0; !stopped; at++) {
      const startedAt = performance.now()
      const response = await fetch(`${server.url}/v1/claims`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testAdminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ class: 'page.viewed', consumer: 'c', key: `${prefix}:${client}:${at}` }),
      })
      const text = await response.text()
      load.times.push(performance.now() - startedAt)
      if (response.status !== 201) load.unexpected.push(`${response.status} ${text}`)
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, client) => run(client)))
  return {
    ...load,
    stop: async () => {
      stopped = true
      await running
    },
  }
}

function percentile(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}
