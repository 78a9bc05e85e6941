import { type RetentionStore, StoreError } from '@ranbook/rules'
import { expect, test } from 'vitest'
import { PoliciesStale } from '../../src/ledger/ledger-deps.ts'
import { prune } from '../../src/ledger/prune.ts'
import { createRetentionStore } from '../../src/stores/postgres/retention-store.ts'
import { expectProblem } from '../http/expect-problem.ts'
import { dayMs, retentionApp } from './retention-app.ts'

const app = await retentionApp()
const { put, completed, fill, run, stored } = app
const monotonicMs = () => performance.now()

const left = async (name: string): Promise<number> => {
  const [row] = await app.sql`SELECT count(*)::int AS count FROM record WHERE class = ${name}`
  return row?.['count']
}

/** The store, told of each batch of keys before it is made. */
function watched(before: (name: string, limit: number) => Promise<void>): RetentionStore {
  const { retention } = app.deps
  return {
    ...retention,
    forgetKeys: async (name, retentionMs, limit) => {
      await before(name, limit)
      return retention.forgetKeys(name, retentionMs, limit)
    },
  }
}

test('a retention longer than time itself makes nothing due, and keeps no other class from its own', async () => {
  const forever = { details_retention_ms: Number.MAX_SAFE_INTEGER, key_retention_ms: Number.MAX_SAFE_INTEGER }
  await put('a.endless', forever)
  await put('b.short', { key_retention_ms: dayMs })
  const [kept, due] = [await completed('a.endless', 'k', 400), await completed('b.short', 'k', 2)]
  const rows = async () => (await app.request('GET', '/v1/retention')).json.data
  expect(await rows()).toMatchObject([{ due: { details: { count: 0 }, keys: { count: 0 } } }, {}])
  await run()
  expect(await stored(kept.id)).toMatchObject({ state: 2, details_erased_at: null })
  expect(await stored(due.id)).toBeUndefined()
  const preview = await app.request('POST', '/v1/classes/b.short/preview', { body: forever })
  expect(preview.json).toMatchObject({ erased: { count: 0 }, forgotten: { count: 0 } })
})

test('a retention that is lengthened while a run goes on holds from the next batch on', async () => {
  await put('lengthened', { key_retention_ms: dayMs })
  await completed('lengthened', 'k', 0)
  await fill('lengthened', 5000)
  const limits: number[] = []
  await run(
    watched(async (name, limit) => {
      if (name !== 'lengthened') return
      limits.push(limit)
      if (limits.length === 2) await put('lengthened', { key_retention_ms: 30 * dayMs })
    }),
  )
  // The second batch had been begun by the policy before.
  const [first = 0, second = 0] = limits
  expect(await left('lengthened')).toBe(5001 - first - second)
})

test('nothing is pruned by policies that could not be re-read for 2 s', async () => {
  await put('stale', { key_retention_ms: dayMs })
  const record = await completed('stale', 'k', 2)
  const { classes, retention } = app.deps
  const policies = {
    ...classes,
    requireFresh: () => {
      throw new PoliciesStale('not read for 3 s')
    },
  }
  const deps = { store: retention, policies, monotonicMs, stopping: () => false }
  await expect(prune(deps)).rejects.toThrow('not read for 3 s')
  expect(await stored(record.id)).toBeDefined()
})

test('a class that can not be pruned is told of, and keeps no other from being pruned', async () => {
  await put('a.refused', { key_retention_ms: dayMs })
  await put('z.after', { key_retention_ms: dayMs })
  const [first, last] = [await completed('a.refused', 'k', 2), await completed('z.after', 'k', 2)]
  await app.sql`ALTER TABLE class_retention ADD CONSTRAINT refuses CHECK (class <> 'a.refused' OR forgotten = 0) NOT VALID`
  await expect(run()).rejects.toMatchObject({ code: '23514' })
  expect(await stored(first.id)).toBeDefined()
  expect(await stored(last.id)).toBeUndefined()
  await app.sql`ALTER TABLE class_retention DROP CONSTRAINT refuses`
})

test('a batch that takes the database too long is tried again with fewer records', async () => {
  await put('heavy', { key_retention_ms: dayMs })
  await completed('heavy', 'k', 0)
  await fill('heavy', 600)
  const limits: number[] = []
  await run(
    watched(async (name, limit) => {
      if (name === 'heavy') limits.push(limit)
      if (name === 'heavy' && limit > 300) throw new StoreError('overloaded', 'the database gave the statement up')
    }),
  )
  expect(await left('heavy')).toBe(1)
  expect(limits[0]).toBeGreaterThan(300)
})

test('where the database is away the run ends at once', async () => {
  await put('away', { key_retention_ms: dayMs })
  await completed('away', 'k', 2)
  const asked: string[] = []
  const store = watched(async (name) => {
    asked.push(name)
    throw new StoreError('store_unavailable', 'the database did not answer')
  })
  await expect(run(store)).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(asked).toHaveLength(1)
})

test('classes with much to do take turns', async () => {
  await put('one.busy', { key_retention_ms: dayMs })
  await put('two.busy', { key_retention_ms: dayMs })
  await Promise.all(['one.busy', 'two.busy'].map((name) => completed(name, 'k', 0)))
  const asked: string[] = []
  const left = new Map([['one.busy', 50]])
  const store: RetentionStore = {
    ...app.deps.retention,
    forgetKeys: async (name) => {
      asked.push(name)
      left.set(name, (left.get(name) ?? 1) - 1)
      return Math.max(0, left.get(name) ?? 0)
    },
  }
  await run(store)
  expect(left.get('one.busy')).toBe(0)
  expect(asked.indexOf('two.busy')).toBeLessThan(asked.lastIndexOf('one.busy'))
})

test('a class that one process is at is left to it, also between its batches', async () => {
  await put('at.work', { key_retention_ms: dayMs })
  await completed('at.work', 'k', 0)
  await fill('at.work', 30)
  const [one, other] = [createRetentionStore(app.cold), createRetentionStore(app.cold)]
  expect(await one.forgetKeys('at.work', dayMs, 10)).toBe(10)
  expect(await other.forgetKeys('at.work', dayMs, 10)).toBeNull()
  expect(await one.forgetKeys('at.work', dayMs, 10)).toBe(10)
  await app.sql`UPDATE class_retention SET ran_at = now() - interval '2 seconds' WHERE class = 'at.work'`
  expect(await other.forgetKeys('at.work', dayMs, 10)).toBe(10)
})

test('a preview with a key that may not read is refused', async () => {
  const key = await app.mint({ actions: ['claim', 'admin'] })
  expectProblem(await app.request('POST', '/v1/classes/at.work/preview', { body: {}, key }), 'forbidden')
})
