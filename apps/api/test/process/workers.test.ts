import { expect, test, vi } from 'vitest'
import { processesIn } from '../embedded/processes-in.ts'
import { begunDataDir } from '../embedded/temporary-data-dir.ts'
import { type Ranbook, spawnRanbook, startRanbook, testAdminKey } from './start-ranbook.ts'
import { workersOf } from './workers-of.ts'

test('metrics of any of several workers are those of all', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir, RANBOOK_WORKERS: '2' })
  const claims = Array.from({ length: 40 }, (_, at) =>
    server.call('POST', '/v1/claims', { class: 'worker.test', consumer: 'w', key: `${at}` }),
  )
  for (const { status } of await Promise.all(claims)) expect(status).toBe(201)
  for (let request = 0; request < 4; request++) {
    expect(await counter(server, 'ranbook_claims_total{outcome="claimed"}')).toBe(40)
  }
  await drained(server, dataDir)
})

test('a policy written through one worker is in force in all within a second or so', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir, RANBOOK_WORKERS: '2' })
  expect((await server.call('PUT', '/v1/classes/slow.*', { lease_ms: 123_000 })).status).toBe(201)
  // Each request opens a connection of its own, so that the workers take turns.
  let inForce = 0
  await vi.waitUntil(
    async () => {
      const key = `k${Math.random()}`
      const { body } = await server.call('POST', '/v1/claims', { class: 'slow.one', consumer: 'w', key })
      inForce = Number(body['lease_remaining_ms']) > 100_000 ? inForce + 1 : 0
      return inForce === 10
    },
    { timeout: 20_000 },
  )
  await drained(server, dataDir)
})

test('workers end with the process that started them, also when it is killed', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir, RANBOOK_WORKERS: '2' })
  server.process.kill('SIGKILL')
  await server.ended
  await vi.waitUntil(() => processesIn(dataDir).length === 0, { timeout: 20_000 })
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
})

test('a server that is told to end while a worker is being replaced ends in time, the new worker included', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir, RANBOOK_WORKERS: '2' })
  const [victim = 0, ...others] = workersOf(server)
  process.kill(victim, 'SIGKILL')
  const isStarting = (pid: number): boolean => pid !== victim && !others.includes(pid)
  await vi.waitUntil(() => workersOf(server).some(isStarting), { timeout: 10_000, interval: 5 })
  await endsInTime(server, dataDir)
})

test('a server that is told to end while its first workers start ends in time, and never says that it is ready', async () => {
  const dataDir = await begunDataDir()
  const server = spawnRanbook({ RANBOOK_DATA_DIR: dataDir, RANBOOK_WORKERS: '2' })
  await vi.waitUntil(() => workersOf(server).length > 0, { timeout: 20_000, interval: 5 })
  await endsInTime(server, dataDir)
  expect(server.stdout() + server.stderr()).toBe('')
})

/** Before any limit of an end has passed. */
async function endsInTime(server: Omit<Ranbook, 'url' | 'call'>, dataDir: string): Promise<void> {
  server.process.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
  expect(server.stderr()).not.toMatch(/did not end in time|took too long/)
  expect(processesIn(dataDir)).toEqual([])
}

async function counter(server: Ranbook, series: string): Promise<number> {
  const headers = { authorization: `Bearer ${testAdminKey}`, connection: 'close' }
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `))
  return Number(line?.slice(series.length))
}

async function drained(server: Ranbook, dataDir: string): Promise<void> {
  server.process.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
  expect(processesIn(dataDir)).toEqual([])
  expect(server.stderr()).toBe('')
}
