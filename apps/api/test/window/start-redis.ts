import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { vi } from 'vitest'
import { freePort } from '../redis-watch/redis-process.ts'

/** Servers of one test file, on free ports. `url` is for `openRedis`. */
export type StartedRedis = { url: string; ports: readonly number[]; stop(): Promise<void> }

/** Starts one server that keeps nothing on the disk. */
export async function startRedis(settings: readonly string[] = []): Promise<StartedRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'))
  const server = await startServer(folder, settings)
  return {
    url: `redis://127.0.0.1:${server.port}`,
    ports: [server.port],
    stop: async () => {
      await end(server.child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const slots = 16_384
const masters = 3
/** Nodes tell each other of themselves every few hundred milliseconds then, not every few seconds. */
const quickGossip = ['--cluster-node-timeout', '1000']

/** Starts a cluster of three masters with a replica each; resolves once every node finds all of it well. */
export async function startRedisCluster(): Promise<StartedRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'))
  const nodes = await Promise.all(
    Array.from({ length: masters * 2 }, (_, at) =>
      startServer(folder, ['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${at}.conf`, ...quickGossip]),
    ),
  )
  const clients = nodes.map(({ port }) => new Redis({ port, maxRetriesPerRequest: 0 }))
  const [first] = nodes
  for (const client of clients.slice(1)) await client.cluster('MEET', '127.0.0.1', first?.port ?? 0)
  for (const [at, client] of clients.slice(0, masters).entries()) {
    const from = Math.floor((slots * at) / masters)
    const to = Math.floor((slots * (at + 1)) / masters) - 1
    await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
  }
  const ids = await Promise.all(clients.map((client) => client.cluster('MYID')))
  for (const [at, client] of clients.slice(masters).entries()) {
    const id = String(ids[at])
    // It has to have heard of its master first.
    await vi.waitUntil(() => client.cluster('REPLICATE', id).catch(() => false), { timeout: 20_000, interval: 50 })
  }
  await vi.waitUntil(
    async () => {
      const states = await Promise.all(clients.map((client) => client.cluster('INFO')))
      const known = await Promise.all(clients.map((client) => client.cluster('SLOTS') as Promise<unknown[][]>))
      return (
        states.every((state) => String(state).includes('cluster_state:ok')) &&
        known.every((ranges) => ranges.length === masters && ranges.every((range) => range.length === 4))
      )
    },
    { timeout: 30_000, interval: 100 },
  )
  for (const client of clients) client.disconnect()
  return {
    url: `redis://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    ports: nodes.map(({ port }) => port),
    stop: async () => {
      await Promise.all(nodes.map(({ child }) => end(child)))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startServer(folder: string, settings: readonly string[]) {
  const port = await freePort()
  const own = ['--port', String(port), '--dir', folder, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', [...own, ...settings], { stdio: 'ignore' })
  await vi.waitUntil(() => answers(port), { timeout: 10_000, interval: 20 })
  return { port, child }
}

async function answers(port: number): Promise<boolean> {
  const client = new Redis({ port, lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.ping()) === 'PONG'
  } catch {
    return false
  } finally {
    client.disconnect()
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
