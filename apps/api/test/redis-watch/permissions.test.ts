import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { createRedisStateStore } from '../../src/stores/postgres/redis-state-store.ts'
import { openRedis } from '../../src/stores/redis/open-redis.ts'
import { migratedDatabase } from '../postgres/migrated-database.ts'
import { observer } from './observer.ts'
import { startRedisProcess } from './redis-process.ts'

const database = migratedDatabase()
const page = readFileSync(new URL('../../../../docs/windows.md', import.meta.url), 'utf8')
const id = 'ab'.repeat(16)

/** What the page for operators says, as the command's arguments. */
const permissions = (/^ACL (SETUSER ranbook .*)$/m.exec(page)?.[1] ?? '').split(' ')

test.each([
  { sort: 'one server', settings: [], path: '/1', scheme: 'redis' },
  {
    sort: 'a cluster',
    settings: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    path: '',
    scheme: 'redis+cluster',
  },
])('the permissions that the page names are enough for $sort, and reach no other keys', async (it) => {
  const server = await startRedisProcess(it.settings)
  if (it.settings.length > 0) await server.ask('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
  await server.ask('ACL', ...permissions)
  const url = `${it.scheme}://ranbook:password@127.0.0.1:${server.port}${it.path}`
  const refused: unknown[] = []
  const redis = await openRedis({ url, failed: (error) => refused.push(error) })
  onTestFinished(() => redis.close())
  await observer(redis, createRedisStateStore(database().postgres.cold)).check()

  const [inserted] = await redis.cells.insert([{ id, body: Buffer.from('first'), lastsMs: 60_000 }])
  expect(inserted?.inserted).toBe(true)
  const [read] = await redis.cells.read([id])
  if (read == null) throw new Error('the cell was inserted')
  const { cell, now } = read
  const [swapped] = await redis.cells.swap([
    { id, expected: cell, grants: true, body: Buffer.from('second'), expiresAt: now + 60_000 },
  ])
  expect(swapped?.fencingToken).toBeGreaterThan(cell.fencingToken)
  expect(await redis.eachMaster((node) => node.expire('rb:epoch:0', 60_000))).toEqual([true])
  await expect(redis.eachMaster((node) => node.get('others'))).rejects.toThrow('NOPERM')
  expect(refused).toEqual([])
  const denied = String(await server.ask('ACL', 'LOG'))
  expect(denied).not.toContain('rb:')
})
