import { StoreError } from '@ranbook/rules'
import { Cluster, type Redis } from 'ioredis'
import type { CellPort } from '../window/cell-port.ts'
import { boundedCalls } from './bounded-calls.ts'
import { createRedisCells } from './redis-cells.ts'
import { createRedisClient } from './redis-client.ts'
import { parseRedisTarget } from './redis-target.ts'

/** One master of Redis, asked by itself. Every method ends within the deadline; what Redis refuses with passes as it is. */
export type RedisNode = {
  /** host:port. */
  id: string
  info(section: string): Promise<string>
  get(key: string): Promise<string | null>
  /** False where something stands there. */
  setNx(key: string, value: string, ttlMs: number): Promise<boolean>
  /** False where nothing stands there. */
  expire(key: string, ttlMs: number): Promise<boolean>
}

/** An open Redis. It comes back by itself when the server does; nothing it does ends the process. */
export type OpenRedis = {
  /** Cells of windows. */
  cells: CellPort
  /** Asks every master for a sign of life. Throws StoreError. */
  ping(): Promise<void>
  /** Asks every master. Throws StoreError where none is known, and whatever `ask` throws. */
  eachMaster<Answer>(ask: (node: RedisNode) => Promise<Answer>): Promise<Answer[]>
  /** Nothing is answered any more. */
  close(): Promise<void>
}

/** Above `commandTimeout`, as a cluster's client tries again by itself; with it a refused claim is answered in time. */
const deadlineMs = 400
/** A healthy server answers as many in some 70 ms. While one hangs, no more than these queue up every 300 ms. */
const inFlightMax = 2048
/** The watch has its own bound, so that a full one does not make Redis look dead. */
const watchInFlightMax = 64
/** Who opens waits no longer for the first connection. */
const firstConnectionMaxMs = 1000

/**
 * Opens Redis, whose address `parseRedisTarget` understands. Resolves once it is connected, or after a second without:
 * then every call fails until it is there. `failed` is told of what happens to connections.
 *
 * @throws RedisAddressRefused
 */
export async function openRedis(options: { url: string; failed: (error: unknown) => void }): Promise<OpenRedis> {
  const client = createRedisClient(parseRedisTarget(options.url))
  // Without a listener an `error` event would end the process.
  client.on('error', options.failed)
  client.on('node error', options.failed)
  const cells = createRedisCells(client, boundedCalls({ inFlightMax, deadlineMs }))
  const watched = boundedCalls({ inFlightMax: watchInFlightMax, deadlineMs })

  const one = async <Answer>(send: () => Promise<Answer>): Promise<Answer> => {
    const [answer] = await watched.all(1, () => [send()])
    return answer as Answer
  }

  function nodeOf(node: Redis): RedisNode {
    return {
      id: idOf(node),
      info: (section) => one(() => node.info(section)),
      get: (key) => one(() => node.get(key)),
      setNx: async (key, value, ttlMs) => (await one(() => node.set(key, value, 'PX', ttlMs, 'NX'))) === 'OK',
      expire: async (key, ttlMs) => (await one(() => node.pexpire(key, ttlMs))) === 1,
    }
  }

  async function eachMaster<Answer>(ask: (node: RedisNode) => Promise<Answer>): Promise<Answer[]> {
    const nodes = client instanceof Cluster ? client.nodes('master') : [client]
    if (client.status !== 'ready' || nodes.length === 0) {
      throw new StoreError('window_unavailable', 'Redis is not connected')
    }
    return Promise.all(nodes.map((node) => ask(nodeOf(node))))
  }

  await connected(client)
  return {
    cells,
    eachMaster,
    async ping() {
      await eachMaster((node) => node.info('server'))
    },
    async close() {
      client.disconnect()
    },
  }
}

function idOf({ options, stream }: Redis): string {
  // Behind sentinels the address is theirs to tell, so it is that of the connection.
  const isNamed = options.sentinels === null || options.sentinels === undefined
  return isNamed ? `${options.host}:${options.port}` : `${stream.remoteAddress}:${stream.remotePort}`
}

function connected(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, firstConnectionMaxMs)
    client.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
