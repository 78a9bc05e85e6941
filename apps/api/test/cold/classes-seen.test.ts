import { type Policy, policySchema } from '@ranbook/contract'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Editor } from '../../src/ledger/class-book.ts'
import { createClassBook } from '../../src/ledger/create-class-book.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { coldDatabase } from './cold-database.ts'

const { sql, cold } = await coldDatabase()
const own = await cold()
const editor: Editor = { actor: 'key:root', reason: 'because', requestId: 'request-1' }
const everything = { classes: ['*'], consumer: null }

function classBook() {
  return createClassBook({ store: createClassStore(own), monotonicMs: () => 0 })
}

function policy(leaseMs: number): Policy {
  return policySchema.parse({ lease_ms: leaseMs })
}

beforeEach(async () => {
  await sql`DELETE FROM class_policy`
  await sql`DELETE FROM class_seen`
  await sql`DELETE FROM class_review`
})

describe('classes seen', () => {
  const store = createClassStore(own)
  const revision = async () => (await store.readPolicies()).policyRevision

  test('are listed by name with policies, in pages, within the scope only', async () => {
    const book = await classBook()
    await book.put('refund.*', policy(5000), { expectedVersion: null, acceptShort: false }, editor)
    await book.put('order.paid', policy(6000), { expectedVersion: null, acceptShort: false }, editor)
    await store.addPairs(
      [
        { class: 'refund.issued', consumer: 'billing' },
        { class: 'refund.issued', consumer: 'mailer' },
        { class: 'order.paid', consumer: 'mailer' },
        { class: 'refund_issued', consumer: 'mailer' },
      ],
      await revision(),
    )
    const all = await book.list(everything, null, 10)
    expect(all.map(({ name, matched, reviewed, consumers }) => ({ name, matched, reviewed, consumers }))).toEqual([
      { name: 'order.paid', matched: 'order.paid', reviewed: true, consumers: ['mailer'] },
      { name: 'refund.*', matched: 'refund.*', reviewed: true, consumers: [] },
      { name: 'refund.issued', matched: 'refund.*', reviewed: false, consumers: ['billing', 'mailer'] },
      { name: 'refund_issued', matched: null, reviewed: false, consumers: ['mailer'] },
    ])
    expect((await book.list(everything, 'order.paid', 2)).map(({ name }) => name)).toEqual([
      'refund.*',
      'refund.issued',
    ])
    const billing = await book.list({ classes: ['refund.*'], consumer: 'billing' }, null, 10)
    expect(billing.map(({ name, consumers }) => ({ name, consumers }))).toEqual([
      { name: 'refund.*', consumers: [] },
      { name: 'refund.issued', consumers: ['billing'] },
    ])
    expect(await book.list({ classes: [], consumer: null }, null, 10)).toEqual([])
  })

  test('are unreviewed until somebody marks them, once', async () => {
    const book = await classBook()
    await store.addPairs([{ class: 'looked.at', consumer: 'billing' }], await revision())
    expect((await book.get(everything, 'looked.at')).reviewed).toBe(false)
    expect(await book.review('looked.at', editor)).toMatchObject({ name: 'looked.at', reviewed: true })
    await book.review('looked.at', editor)
    expect((await book.get(everything, 'looked.at')).reviewed).toBe(true)
    expect(await sql`SELECT reason FROM audit WHERE action = 'class.review' AND target = 'looked.at'`).toEqual([
      { reason: 'because' },
    ])
    expect(await book.review('never.seen', editor)).toBeNull()
  })

  test('are found as pairs within the scope and the filters', async () => {
    const book = await classBook()
    const pairs = ['a', 'a_b', 'a%b', 'axb'].flatMap((name) => [
      { class: name, consumer: 'one' },
      { class: name, consumer: 'two' },
    ])
    await store.addPairs(pairs, await revision())
    const found = async (
      scope: { classes: string[]; consumer: string | null },
      only: { class?: string; consumer?: string } = {},
    ) =>
      (await book.pairsSeen(scope, { class: null, consumer: null, ...only }, 100)).map(
        (pair) => `${pair.class}/${pair.consumer}`,
      )
    expect(await found(everything)).toHaveLength(8)
    expect(await found({ classes: ['a_*'], consumer: null })).toEqual(['a_b/one', 'a_b/two'])
    expect(await found({ classes: ['a%b', 'a\\*'], consumer: null })).toEqual(['a%b/one', 'a%b/two'])
    expect(await found({ classes: ['a*'], consumer: 'two' })).toEqual(['a%b/two', 'a_b/two', 'axb/two'])
    expect(await found({ classes: ['a', 'a*'], consumer: null }, { class: 'a', consumer: 'one' })).toEqual(['a/one'])
    expect(await found({ classes: ['*'], consumer: 'two' }, { consumer: 'one' })).toEqual([])
    expect(await book.pairsSeen(everything, { class: null, consumer: null }, 3)).toHaveLength(3)
  })
})
