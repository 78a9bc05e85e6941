import { defaultPolicy } from '@ranbook/rules'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { createKeyStore } from '../../src/stores/postgres/key-store.ts'
import type { Sessions } from '../../src/stores/postgres/lane.ts'
import { migratedDatabase } from './migrated-database.ts'

const opened = migratedDatabase()

const pairs = [{ consumer: 'billing', class: 'refund.issued' }]
const audit = {
  actor: 'key:root',
  action: 'tested',
  target: 'it',
  reason: null,
  before: null,
  after: null,
  requestId: null,
}
const key = {
  id: 'k',
  name: 'k',
  secretSha256: '00'.repeat(32),
  scopes: { actions: [], classes: ['*'], consumer: null },
  createdBy: 'key:root',
  expiresAt: null,
}

/** Makes every connection of these wait for a lock until the function it answers is called, or the test ends. */
async function occupy(...all: Sessions[]): Promise<() => Promise<void>> {
  const { sql } = opened()
  const holder = await sql.reserve()
  await holder`SELECT pg_advisory_lock(1)`
  const blocked = all.flatMap((sessions) =>
    Array.from({ length: 10 }, () => sessions.use((session) => session.unsafe('SELECT pg_advisory_xact_lock(1)'))),
  )
  const ended = Promise.allSettled(blocked)
  await expect
    .poll(async () => {
      const [row] = await sql`SELECT count(*)::int AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
      return row?.['waiting']
    })
    .toBeGreaterThanOrEqual(all.length)
  let isHeld = true
  const free = async (): Promise<void> => {
    if (!isHeld) return
    isHeld = false
    await holder`SELECT pg_advisory_unlock(1)`
    holder.release()
    await ended
  }
  onTestFinished(free)
  return free
}

test('however much is read and changed, policies and keys are re-read and a claim stores its pair', async () => {
  const { cold, now } = opened().postgres
  const [classes, keys] = [createClassStore(cold), createKeyStore(cold)]
  await occupy(cold.reads, cold.changes)
  expect((await classes.readPolicies()).policies).toEqual([])
  expect(await classes.revision()).toMatchObject({ revision: 0 })
  expect((await keys.readLive()).keys).toEqual([])
  expect(await keys.revision()).toBe(0)
  await classes.addPairs(pairs, 0)
  expect(await now()).toBeGreaterThan(0)
})

test('who finds every connection for reading busy is refused, and nobody later is', async () => {
  const { cold } = opened().postgres
  const classes = createClassStore(cold)
  const free = await occupy(cold.reads)
  await expect(classes.readHistory('a', null, 1)).rejects.toMatchObject({ name: 'StoreError', code: 'overloaded' })
  await free()
  expect(await classes.readHistory('a', null, 1)).toEqual([])
})

describe('a write that succeeds with a warning counts as unknown:', () => {
  const tables = ['class_policy', 'class_policy_history', 'class_seen', 'class_review', 'api_key', 'audit']
  beforeEach(async () => {
    const { sql } = opened()
    await sql`DELETE FROM class_seen`
    await sql.unsafe(`CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE WARNING 'canceling wait for synchronous replication'; RETURN NULL; END $$`)
    for (const table of tables) {
      await sql.unsafe(`CREATE TRIGGER warns AFTER INSERT OR UPDATE OR DELETE ON ${table} EXECUTE FUNCTION warn()`)
    }
  })
  afterEach(async () => {
    await opened().sql.unsafe('DROP FUNCTION warn CASCADE')
  })

  test.each<[string, () => Promise<unknown>]>([
    ['a policy', () => classStore().changePolicy('a', () => ({ policy: defaultPolicy, diff: {}, audit }))],
    ['a review', () => classStore().markReviewed('a', audit)],
    ['a pair seen', () => classStore().addPairs(pairs, 0)],
    ['a new key', () => keyStore().insert(key, audit)],
    ['a revoked key', () => keyStore().revoke(key.id, audit)],
  ])('%s', async (_, write) => {
    await expect(write()).rejects.toMatchObject({ name: 'StoreError', code: 'store_unavailable' })
  })

  const classStore = () => createClassStore(opened().postgres.cold)
  const keyStore = () => createKeyStore(opened().postgres.cold)
})
