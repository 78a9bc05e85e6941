import { type Policy, policySchema } from '@ranbook/contract'
import { defaultPolicy, StoreError } from '@ranbook/rules'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Editor } from '../../src/ledger/class-book.ts'
import { createClassBook } from '../../src/ledger/create-class-book.ts'
import { PoliciesStale } from '../../src/ledger/ledger-deps.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { coldDatabase } from './cold-database.ts'

const { sql, open, cold } = await coldDatabase()
const own = await cold()
const clock = { ms: 0 }
const editor: Editor = { actor: 'key:root', reason: 'because', requestId: 'request-1' }

function classBook(connections = own) {
  return createClassBook({ store: createClassStore(connections), monotonicMs: () => clock.ms })
}

function policy(leaseMs: number): Policy {
  return policySchema.parse({ lease_ms: leaseMs })
}

async function put(
  book: Awaited<ReturnType<typeof classBook>>,
  name: string,
  leaseMs: number,
  expected: number | null = null,
) {
  return book.put(name, policy(leaseMs), { expectedVersion: expected, acceptShort: false }, editor)
}

async function versions(name: string): Promise<number[]> {
  const rows = await sql`SELECT version FROM class_policy_history WHERE name = ${name} ORDER BY version`
  return rows.map(({ version }) => version)
}

beforeEach(async () => {
  await sql`DELETE FROM class_policy`
  await sql`DELETE FROM class_policy_history`
  await sql`DELETE FROM class_seen`
  await sql`DELETE FROM class_review`
})

describe('the policy in force', () => {
  test('is the built-in default where nobody wrote one', async () => {
    expect((await classBook()).policyFor('refund.issued')).toEqual(defaultPolicy)
  })

  test('is the most specific one, and the next one once that is deleted', async () => {
    const book = await classBook()
    await put(book, '*', 1000)
    await put(book, 'refund.*', 2000)
    await put(book, 'refund.eu.*', 3000)
    await put(book, 'refund.eu.issued', 4000)
    const leaseOf = (name: string) => book.policyFor(name).lease_ms
    expect(['refund.eu.issued', 'refund.eu.lost', 'refund.us.lost', 'refund.', 'order'].map(leaseOf)).toEqual([
      4000, 3000, 2000, 1000, 1000,
    ])
    await book.remove('refund.eu.issued', null, editor)
    await book.remove('refund.eu.*', null, editor)
    await book.remove('*', null, editor)
    expect(leaseOf('refund.eu.issued')).toBe(2000)
    expect(leaseOf('order')).toBe(defaultPolicy.lease_ms)
  })

  test('is changed at once where the change was made, elsewhere with the next re-read', async () => {
    const [here, there] = [await classBook(), await classBook(await cold())]
    await put(here, 'refund.issued', 5000)
    expect(here.policyFor('refund.issued').lease_ms).toBe(5000)
    expect(there.policyFor('refund.issued')).toEqual(defaultPolicy)
    await there.refresh()
    expect(there.policyFor('refund.issued').lease_ms).toBe(5000)
    await there.remove('refund.issued', null, editor)
    expect(there.policyFor('refund.issued')).toEqual(defaultPolicy)
    await here.refresh()
    expect(here.policyFor('refund.issued')).toEqual(defaultPolicy)
  })

  test('stays right for more classes than are kept in mind', async () => {
    const book = await classBook()
    await put(book, 'a.*', 7000)
    for (let at = 0; at < 25_000; at++) {
      expect(book.policyFor(`a.${at}`).lease_ms).toBe(7000)
      expect(book.policyFor(`b.${at}`).lease_ms).toBe(defaultPolicy.lease_ms)
    }
  })

  test('stored by a newer version is refused for its classes alone', async () => {
    const book = await classBook()
    await put(book, 'refund.*', 2000)
    await put(book, 'order.*', 2000)
    await put(book, 'event.*', 2000)
    await sql`UPDATE class_policy SET policy = (policy::jsonb || '{"quota": 5}')::json WHERE name = 'refund.*'`
    await sql`UPDATE class_policy SET policy = (policy::jsonb || '{"ordering": "guard"}')::json WHERE name = 'order.*'`
    const newcomer = await classBook()
    expect(() => newcomer.policyFor('refund.issued')).toThrow(PoliciesStale)
    expect(() => newcomer.policyFor('order.paid')).toThrow(PoliciesStale)
    expect(newcomer.policyFor('event.seen').lease_ms).toBe(2000)
  })
})

describe('freshness', () => {
  test('ends 2 s after policies were last known and comes back with the next re-read', async () => {
    const book = await classBook()
    clock.ms += 2000
    book.requireFresh()
    clock.ms += 1
    expect(() => book.requireFresh()).toThrow(PoliciesStale)
    await book.refresh()
    book.requireFresh()
  })

  test('ends when the database can not be reached, and the policies known stay readable', async () => {
    const client = await open()
    const book = await classBook(client.cold)
    await put(book, 'refund.issued', 5000)
    await client.close()
    clock.ms += 2001
    await expect(book.refresh()).rejects.toBeInstanceOf(StoreError)
    expect(() => book.requireFresh()).toThrow(PoliciesStale)
    expect(book.policyFor('refund.issued').lease_ms).toBe(5000)
  })
})

describe('a change', () => {
  test('counts versions on over deletion and re-creation', async () => {
    const book = await classBook()
    expect(await put(book, 'refund.*', 1000)).toMatchObject({ kind: 'stored', created: true, own: { version: 1 } })
    expect(await put(book, 'refund.*', 2000)).toMatchObject({ kind: 'stored', created: false, own: { version: 2 } })
    expect(await book.remove('refund.*', null, editor)).toEqual({ kind: 'removed' })
    expect(await book.remove('refund.*', null, editor)).toEqual({ kind: 'absent' })
    expect(await put(book, 'refund.*', 3000)).toMatchObject({ kind: 'stored', created: true, own: { version: 4 } })
  })

  test('over another version than the expected one is stale and changes nothing', async () => {
    const book = await classBook()
    expect(await put(book, 'a', 1000, 1)).toEqual({ kind: 'stale', version: null })
    await put(book, 'a', 1000)
    await put(book, 'a', 2000)
    expect(await put(book, 'a', 9000, 1)).toEqual({ kind: 'stale', version: 2 })
    expect(await book.remove('a', 1, editor)).toEqual({ kind: 'stale', version: 2 })
    expect(await put(book, 'a', 3000, 2)).toMatchObject({ own: { version: 3 } })
    expect(book.policyFor('a').lease_ms).toBe(3000)
    expect(await versions('a')).toEqual([1, 2, 3])
  })

  test('of many over one version is made once, by processes that race', async () => {
    const books = await Promise.all([classBook(), classBook(await cold()), classBook(await cold())])
    await put(books[0] as (typeof books)[number], 'race', 1000)
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, at) => put(books[at % 3] as (typeof books)[number], 'race', 2000 + at, 1)),
    )
    const stored = outcomes.filter((outcome) => outcome.kind === 'stored')
    expect(stored).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome.kind === 'stale')).toHaveLength(23)
    expect(await versions('race')).toEqual([1, 2])
  })

  test('of many without an expected version is never lost', async () => {
    const books = await Promise.all([classBook(), classBook(await cold()), classBook(await cold())])
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, at) => put(books[at % 3] as (typeof books)[number], 'all', 2000 + at)),
    )
    const made = outcomes.flatMap((outcome) => (outcome.kind === 'stored' ? [outcome] : []))
    expect(made.map(({ own }) => own.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 24 }, (_, at) => at + 1),
    )
    expect(made.filter(({ created }) => created)).toHaveLength(1)
    const last = made.find(({ own }) => own.version === 24)
    for (const book of books) {
      await book.refresh()
      expect(book.policyFor('all')).toEqual(last?.policy)
    }
  })

  test('is kept with who, why and what it altered, newest first and in pages', async () => {
    const book = await classBook()
    await put(book, 'refund.*', 5000)
    await put(book, 'refund.issued', 6000)
    await put(book, 'refund.issued', 7000)
    await book.remove('refund.issued', null, { ...editor, reason: null })
    const history = await book.history('refund.issued', null, 10)
    expect(history.map(({ at: _at, ...line }) => line)).toEqual([
      { version: 3, policy: null, diff: { lease_ms: [7000, 5000] }, by: 'key:root', reason: null },
      { version: 2, policy: policy(7000), diff: { lease_ms: [6000, 7000] }, by: 'key:root', reason: 'because' },
      { version: 1, policy: policy(6000), diff: { lease_ms: [5000, 6000] }, by: 'key:root', reason: 'because' },
    ])
    expect((await book.history('refund.issued', 3, 1)).map(({ version }) => version)).toEqual([2])
    expect(await book.history('refund.issued', 1, 10)).toEqual([])
  })

  test('has its line in the audit', async () => {
    const book = await classBook()
    await put(book, 'audited', 6000)
    await book.remove('audited', null, editor)
    const lines =
      await sql`SELECT actor, action, reason, request_id, before::text, after::text FROM audit WHERE target = 'audited' ORDER BY id`
    expect(
      lines.map(({ before, after, ...line }) => ({ ...line, before: JSON.parse(before), after: JSON.parse(after) })),
    ).toEqual([
      {
        actor: 'key:root',
        action: 'class.put',
        reason: 'because',
        request_id: 'request-1',
        before: null,
        after: policy(6000),
      },
      {
        actor: 'key:root',
        action: 'class.delete',
        reason: 'because',
        request_id: 'request-1',
        before: policy(6000),
        after: null,
      },
    ])
  })

  test('whose audit can not be written does not happen, nor does its history', async () => {
    const book = await classBook()
    await put(book, 'kept', 6000)
    await sql`ALTER TABLE audit ADD CONSTRAINT refuse_all CHECK (actor = 'nobody') NOT VALID`
    try {
      await expect(put(book, 'kept', 9000)).rejects.toThrow(/refuse_all/)
      await expect(book.remove('kept', null, editor)).rejects.toThrow(/refuse_all/)
      await expect(put(book, 'new', 9000)).rejects.toThrow(/refuse_all/)
    } finally {
      await sql`ALTER TABLE audit DROP CONSTRAINT refuse_all`
    }
    await book.refresh()
    expect(book.policyFor('kept').lease_ms).toBe(6000)
    expect(book.policyFor('new')).toEqual(defaultPolicy)
    expect(await versions('kept')).toEqual([1])
    expect(await versions('new')).toEqual([])
  })

  test.each([
    { value: { source_preset: 'stripe', store: 'window' as const }, code: 'retention_below_horizon' },
    { value: { ordering: 'guard' as const }, code: 'not_available' },
    { value: { store: 'window' as const, ordering: 'track' as const }, code: 'invalid_policy' },
    { value: { backoff: { initial_ms: 9000, factor: 2, max_ms: 10 } }, code: 'invalid_policy' },
  ])('to $value is refused as $code', async ({ value, code }) => {
    const book = await classBook()
    const refused = await book.put(
      'a',
      policySchema.parse(value),
      { expectedVersion: null, acceptShort: false },
      editor,
    )
    expect(refused).toMatchObject({ kind: 'refused', fault: { code } })
    expect(await versions('a')).toEqual([])
  })
})

test('the ledger began when its database was initialised', async () => {
  const [row] = await sql`SELECT (value #>> '{}')::timestamptz AS at FROM setting WHERE name = 'ledger_began_at'`
  expect(await (await classBook()).ledgerBeganAt()).toBe(Math.floor(row?.at.getTime()))
})
