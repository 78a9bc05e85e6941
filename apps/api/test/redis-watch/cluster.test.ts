import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { lookAtRedis } from '../../src/jobs/look-at-redis.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { createRedisStateStore } from '../../src/stores/postgres/redis-state-store.ts'
import { type OpenRedis, openRedis } from '../../src/stores/redis/open-redis.ts'
import { migratedDatabase } from '../postgres/migrated-database.ts'
import { observer } from './observer.ts'
import { type RedisProcess, startRedisProcess } from './redis-process.ts'

const database = migratedDatabase()
const slots = 16_384

beforeEach(async () => {
  const { sql, postgres } = database()
  await sql`DELETE FROM window_loss`
  await sql`DELETE FROM setting WHERE name = 'window_redis'`
  const until = (await postgres.now()) + 60_000
  await createClassStore(postgres.cold).raisePlaces([{ class: 'page.viewed', place: 'redis', until }], false)
})

/** Masters alone, the slots divided among them. */
async function startCluster(count: number): Promise<{ nodes: RedisProcess[]; redis: OpenRedis }> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']
  const nodes = await Promise.all(Array.from({ length: count }, () => startRedisProcess(settings)))
  await Promise.all(
    nodes.map(async (node, at) => {
      const first = Math.floor((at * slots) / count)
      await node.ask('CLUSTER', 'ADDSLOTSRANGE', first, Math.floor(((at + 1) * slots) / count) - 1)
      await node.ask('CLUSTER', 'SET-CONFIG-EPOCH', at + 1)
    }),
  )
  for (const node of nodes) await node.ask('CLUSTER', 'MEET', '127.0.0.1', nodes[0]?.port ?? 0)
  for (const node of nodes) {
    const ready = async (): Promise<boolean> => {
      const info = String(await node.ask('CLUSTER', 'INFO'))
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${count}`)
    }
    await vi.waitUntil(ready, { timeout: 20_000, interval: 50 })
  }
  const url = `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
  const redis = await openRedis({ url, failed: () => {} })
  onTestFinished(() => redis.close())
  return { nodes, redis }
}

async function losses(): Promise<{ cause: string; detail: string }[]> {
  return database().sql<{ cause: string; detail: string }[]>`SELECT cause, detail FROM window_loss ORDER BY id`
}

test('each master of a cluster has a marker of its own, and a flush of one is declared with its name', async () => {
  const { nodes, redis } = await startCluster(3)
  const process = observer(redis, createRedisStateStore(database().postgres.cold))
  await process.check()
  const markers = (await lookAtRedis(redis, [])).map(({ markerKey }) => markerKey)
  expect(new Set(markers).size).toBe(3)
  await nodes[1]?.ask('FLUSHALL')
  await process.check()
  expect(await losses()).toEqual([{ cause: 'flushed', detail: `127.0.0.1:${nodes[1]?.port} was flushed` }])
  await process.check()
  expect(await losses()).toHaveLength(1)
})

test('a marker whose slot moves to another master is no loss', async () => {
  const { nodes, redis } = await startCluster(2)
  const process = observer(redis, createRedisStateStore(database().postgres.cold))
  await process.check()
  const [first] = await lookAtRedis(redis, [])
  const from = nodes.find(({ port }) => first?.id.endsWith(`:${port}`))
  const to = nodes.find((node) => node !== from)
  if (first === undefined || from === undefined || to === undefined) throw new Error('there are two masters')
  const slot = Number(await from.ask('CLUSTER', 'KEYSLOT', first.markerKey))
  const [fromId, toId] = [String(await from.ask('CLUSTER', 'MYID')), String(await to.ask('CLUSTER', 'MYID'))]
  await to.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
  await from.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
  await from.ask('MIGRATE', '127.0.0.1', to.port, first.markerKey, 0, 5000)
  for (const node of [to, from]) await node.ask('CLUSTER', 'SETSLOT', slot, 'NODE', toId)
  await process.check()
  expect((await lookAtRedis(redis, [])).find(({ id }) => id === first.id)?.markerKey).not.toBe(first.markerKey)
  expect(await losses()).toEqual([])
})
