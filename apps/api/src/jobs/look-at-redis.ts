import type { OpenRedis, RedisNode } from '../stores/redis/open-redis.ts'
import type { RedisMaster, SeenMaster } from './judge-redis.ts'

/** The masters as they are now. */
export type RedisMasters = Pick<OpenRedis, 'eachMaster'>

/** Beside the cells, which have longer keys that begin alike: one pattern permits both. */
const markerPrefix = 'rb:epoch:'
/**
 * A cluster's master serves one of so many keys, or it serves next to nothing: with 100 masters it has none of them once
 * in 30 000 times.
 */
const markersTried = 1024

/**
 * Reads of every master what `judgeRedis` compares. Each has a marker under the first key, of a fixed list, that lies in
 * its slots; those of masters that are gone come first, as who answers for them now has their data.
 */
export async function lookAtRedis(redis: RedisMasters, known: readonly RedisMaster[]): Promise<SeenMaster[]> {
  const ids = await redis.eachMaster(async ({ id }) => id)
  const goneKeys = known.filter(({ id }) => !ids.includes(id)).map(({ markerKey }) => markerKey)
  return redis.eachMaster(async (node) => {
    const ownKeys = known.filter(({ id }) => id === node.id).map(({ markerKey }) => markerKey)
    const [server, stats, memory, marker] = await Promise.all([
      node.info('server'),
      node.info('stats'),
      node.info('memory'),
      findMarker(node, [...ownKeys, ...goneKeys]),
    ])
    return {
      id: node.id,
      runId: infoField(server, 'run_id'),
      evicted: Number(infoField(stats, 'evicted_keys')),
      maxmemory: Number(infoField(memory, 'maxmemory')),
      policy: infoField(memory, 'maxmemory_policy'),
      ...marker,
    }
  })
}

async function findMarker(node: RedisNode, first: readonly string[]): Promise<Pick<SeenMaster, 'markerKey' | 'epoch'>> {
  for (const markerKey of first) {
    const epoch = await ownValue(node, markerKey)
    if (epoch !== undefined) return { markerKey, epoch }
  }
  for (let at = 0; at < markersTried; at++) {
    const markerKey = `${markerPrefix}${at}`
    const epoch = await ownValue(node, markerKey)
    if (epoch !== undefined) return { markerKey, epoch }
  }
  throw new Error('this master serves no slot that a marker could stand in')
}

/** Undefined where another master serves that key. */
async function ownValue(node: RedisNode, key: string): Promise<string | null | undefined> {
  try {
    return await node.get(key)
  } catch (error) {
    if (error instanceof Error && /^(MOVED|ASK) /.test(error.message)) return undefined
    throw error
  }
}

function infoField(text: string, name: string): string {
  const value = new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1]
  if (value === undefined) throw new Error(`INFO tells no ${name}`)
  return value
}
