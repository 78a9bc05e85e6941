import { type AuditEntry, defaultPolicy, StoreError } from '@ranbook/rules'
import { beforeEach, expect, test } from 'vitest'
import { createClassBook } from '../../src/ledger/create-class-book.ts'
import { createPairRegistry } from '../../src/ledger/create-pair-registry.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { coldDatabase } from './cold-database.ts'

const { sql, open, cold } = await coldDatabase()
const own = await cold()

const audit: AuditEntry = {
  ...{ actor: 'key:root', action: 'class.put', target: 'other', reason: null, before: null, after: null },
  requestId: null,
}
/** Nobody changes policies here. */
const policies = { policyRevision: () => 0, refresh: async () => {} }

beforeEach(async () => {
  await sql`DELETE FROM class_seen`
})

test('a pair is known once it is stored, and not before', async () => {
  const registry = createPairRegistry(createClassStore(own), policies)
  expect(registry.has('billing', 'refund.issued')).toBe(false)
  await registry.add([{ consumer: 'billing', class: 'refund.issued' }])
  expect(registry.has('billing', 'refund.issued')).toBe(true)
  expect(registry.has('refund.issued', 'billing')).toBe(false)
  expect(await sql`SELECT class, consumer FROM class_seen`).toEqual([{ class: 'refund.issued', consumer: 'billing' }])
})

test('a pair that could not be stored is not known, and the next try stores it', async () => {
  const client = await open()
  const store = createClassStore(client.cold)
  const failing = createPairRegistry({ addPairs: store.addPairs }, policies)
  await client.close()
  const pair = { consumer: 'billing', class: 'refund.issued' }
  await expect(failing.add([pair])).rejects.toBeInstanceOf(StoreError)
  expect(failing.has('billing', 'refund.issued')).toBe(false)
  await expect(failing.add([pair])).rejects.toBeInstanceOf(StoreError)
})

test('pairs added side by side, in any order and by any process, stand once and keep their first time', async () => {
  const registries = [
    createPairRegistry(createClassStore(own), policies),
    createPairRegistry(createClassStore(await cold()), policies),
  ]
  const pairs = Array.from({ length: 40 }, (_, at) => ({ consumer: `c${at % 5}`, class: `k${at % 8}` }))
  await Promise.all(
    registries.flatMap((registry, at) => [registry.add(pairs), registry.add(at === 0 ? pairs : pairs.toReversed())]),
  )
  const before = await sql`SELECT * FROM class_seen ORDER BY class, consumer`
  expect(before).toHaveLength(40)
  await createPairRegistry(createClassStore(own), policies).add(pairs)
  expect(await sql`SELECT * FROM class_seen ORDER BY class, consumer`).toEqual(before)
})

test('many pairs added at once in opposite orders do not lock each other out', async () => {
  const stores = [createClassStore(own), createClassStore(await cold())]
  for (let round = 0; round < 8; round++) {
    const pairs = Array.from({ length: 400 }, (_, at) => ({ consumer: `round ${round}`, class: `k${at}` }))
    await Promise.all(stores.map((store, at) => store.addPairs(at === 0 ? pairs : pairs.toReversed(), 0)))
  }
  expect(await sql`SELECT count(*)::int AS pairs FROM class_seen`).toEqual([{ pairs: 3200 }])
})

test('one pair asked for many times at once is stored with one statement', async () => {
  const store = createClassStore(own)
  let statements = 0
  const addPairs: typeof store.addPairs = (...asked) => {
    statements += 1
    return store.addPairs(...asked)
  }
  const registry = createPairRegistry({ addPairs }, policies)
  const pair = { consumer: 'billing', class: 'refund.issued' }
  await Promise.all(Array.from({ length: 50 }, () => registry.add([pair, pair])))
  expect(statements).toBe(1)
})

test('a pair judged by policies that were changed meanwhile is added under those that stand', async () => {
  const store = createClassStore(own)
  const book = await createClassBook({ store: createClassStore(await cold()), monotonicMs: () => performance.now() })
  const registry = createPairRegistry(store, book)
  const stale = book.policyRevision()
  await store.changePolicy('other', () => ({ policy: defaultPolicy, diff: {}, audit }))
  expect(await store.addPairs([{ consumer: 'billing', class: 'refund.issued' }], stale)).toBe(false)
  expect(await sql`SELECT * FROM class_seen`).toEqual([])
  await registry.add([{ consumer: 'billing', class: 'refund.issued' }])
  expect(book.policyRevision()).toBeGreaterThan(stale)
  expect(await sql`SELECT class FROM class_seen`).toEqual([{ class: 'refund.issued' }])
})

test('a pair gives up where policies change faster than they are read', async () => {
  const registry = createPairRegistry({ addPairs: async () => false }, policies)
  await expect(registry.add([{ consumer: 'billing', class: 'a' }])).rejects.toMatchObject({ code: 'policies_stale' })
})
