import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { processesIn } from '../embedded/processes-in.ts'
import { begunDataDir } from '../embedded/temporary-data-dir.ts'
import { type Ranbook, startRanbook } from '../process/start-ranbook.ts'
import { violations } from './history.ts'
import { killHard, postgresIn } from './kill-hard.ts'
import { type Load, readStandings, startLoad } from './start-load.ts'

/** More rounds for a release: FAULT_ROUNDS=1000. */
const rounds = Number(process.env['FAULT_ROUNDS'] ?? 4)
/** Enough between two faults that claims, completes and takeovers are in flight when one comes. */
const acknowledgedPerRound = 150

test(
  `kill -9 of the server and its database under load, ${rounds} times: nothing acknowledged is lost, nothing granted twice`,
  async () => {
    const dataDir = await begunDataDir()
    const environment = { RANBOOK_DATA_DIR: dataDir, PORT: String(await freePort()) }
    let server = await startRanbook(environment)
    const load = underLoad(server, 'both')
    for (let round = 0; round < rounds; round++) {
      await progress(load)
      await killHard([server.pid, ...processesIn(dataDir)])
      expect(await server.ended).toEqual({ code: null, signal: 'SIGKILL' })
      server = await startRanbook(environment)
    }
    await progress(load)
    await expectKept(load, server)
    await drained(server, dataDir)
  },
  60_000 + rounds * 20_000,
)

test(
  'kill -9 of the server alone takes its database along, and the next start serves everything acknowledged',
  async () => {
    const dataDir = await begunDataDir()
    const environment = { RANBOOK_DATA_DIR: dataDir, PORT: String(await freePort()) }
    let server = await startRanbook(environment)
    const load = underLoad(server, 'api')
    for (let round = 0; round < Math.ceil(rounds / 4); round++) {
      await progress(load)
      await killHard([server.pid])
      await vi.waitUntil(() => processesIn(dataDir).length === 0, { timeout: 20_000 })
      server = await startRanbook(environment)
    }
    await progress(load)
    await expectKept(load, server)
    await drained(server, dataDir)
  },
  60_000 + rounds * 20_000,
)

test(
  'kill -9 of all of Postgres under load: 503 until it is back, no other answer, and the server never ends',
  async () => {
    const dataDir = await begunDataDir()
    const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
    const load = underLoad(server, 'postgres')
    for (let round = 0; round < Math.ceil(rounds / 2); round++) {
      await progress(load)
      const refusedBefore = load.statuses.get(503) ?? 0
      await killHard(postgresIn(dataDir))
      await vi.waitUntil(() => (load.statuses.get(503) ?? 0) > refusedBefore, { timeout: 20_000 })
      await vi.waitUntil(async () => (await fetch(`${server.url}/readyz`)).status === 200, { timeout: 30_000 })
    }
    await progress(load)
    await expectKept(load, server)
    expect(load.statuses.get(0)).toBeUndefined()
    await drained(server, dataDir)
  },
  60_000 + rounds * 20_000,
)

test(
  'kill -9 of one worker process and then of both under load: they are replaced where they listened, nothing acknowledged is lost, nothing granted twice',
  async () => {
    const dataDir = await begunDataDir()
    const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir, RANBOOK_WORKERS: '2' })
    const load = underLoad(server, 'worker')
    for (let round = 0; round < Math.ceil(rounds / 4); round++) {
      await progress(load)
      // From the second round on nobody is left who listens.
      const killed = (await workersOf(server)).slice(0, round === 0 ? 1 : 2)
      await killHard(killed)
      await vi.waitUntil(async () => (await workersOf(server)).filter((pid) => !killed.includes(pid)).length === 2, {
        timeout: 20_000,
      })
    }
    await progress(load)
    await expectKept(load, server)
    await drained(server, dataDir)
  },
  60_000 + rounds * 20_000,
)

function underLoad(server: Ranbook, prefix: string): Load {
  const load = startLoad(server.url, prefix)
  onTestFinished(async () => {
    // Where the test failed the server may be gone, and then so may the clients' patience.
    await load.stop().catch(() => undefined)
  })
  return load
}

async function progress(load: Load): Promise<void> {
  const target = load.acknowledged() + acknowledgedPerRound
  await vi.waitUntil(() => load.acknowledged() >= target || load.unexpected.length > 0, { timeout: 60_000 })
  expect(load.unexpected).toEqual([])
}

async function expectKept(load: Load, server: Ranbook): Promise<void> {
  await load.stop()
  expect(load.unexpected).toEqual([])
  const { grants, completions, duplicates } = load.history
  expect(Math.min(grants.length, completions.length, duplicates.length)).toBeGreaterThan(0)
  // An observer that never saw a takeover has not looked at what a lost lease does.
  expect(grants.some(({ attempt }) => attempt > 1)).toBe(true)
  expect(violations(load.history, await readStandings(server.url, load.history))).toEqual([])
}

async function drained(server: Ranbook, dataDir: string): Promise<void> {
  server.process.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
  expect(processesIn(dataDir)).toEqual([])
}

async function workersOf(server: Ranbook): Promise<number[]> {
  const text = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
  const children = text.trim().split(' ').filter(Boolean).map(Number)
  const commands = await Promise.all(children.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return children.filter((_, at) => commands[at]?.includes('main.js'))
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('No port is free')
  return address.port
}
