import { randomBytes } from 'node:crypto'
import { type Action, actions } from '@ranbook/contract'
import type { KeyScopes } from '@ranbook/rules'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '../../src/access/caller.ts'
import { createAccessBook } from '../../src/access/create-access-book.ts'
import { createKeyStore } from '../../src/stores/postgres/key-store.ts'
import { coldDatabase } from './cold-database.ts'

const { sql, cold } = await coldDatabase()
const own = await cold()
const adminKey = 'an admin key of more than thirty-two characters'
const clock = { now: 0 }

async function accessBook(connections = own, admin: string | null = adminKey) {
  return createAccessBook({
    keys: createKeyStore(connections),
    adminKey: admin,
    now: () => clock.now,
    monotonicMs: () => clock.now,
    randomBytes,
  })
}

const admin: Caller = {
  actor: 'key:root',
  name: 'root',
  actions: new Set(actions),
  scope: { classes: ['*'], consumer: null },
  expiresAt: null,
}
const everything: KeyScopes = { actions: [...actions], classes: ['*'], consumer: null }
const refunds: KeyScopes = { actions: ['claim', 'read'], classes: ['refund.*'], consumer: 'billing' }

type Book = Awaited<ReturnType<typeof accessBook>>

async function made(book: Book, scopes = everything, expiresAt: number | null = null) {
  const outcome = await book.create(admin, 'a key', scopes, expiresAt, 'request-1')
  if (outcome.kind !== 'created') throw new Error(outcome.detail)
  return outcome
}

beforeEach(async () => {
  clock.now = Date.UTC(2026, 10, 30)
  await sql`DELETE FROM api_key`
})

describe('a key can not mint a wider one', () => {
  const maker: Caller = {
    actor: 'key:maker',
    name: 'maker',
    actions: new Set<Action>(['admin', 'read']),
    scope: { classes: ['refund.*'], consumer: 'billing' },
    expiresAt: null,
  }
  const within: KeyScopes = { actions: ['read'], classes: ['refund.issued'], consumer: 'billing' }

  test.each([
    { wider: 'another action', scopes: { ...within, actions: ['read', 'operate'] as Action[] } },
    { wider: 'another class', scopes: { ...within, classes: ['order.paid'] } },
    { wider: 'every class', scopes: { ...within, classes: ['*'] } },
    { wider: 'another consumer', scopes: { ...within, consumer: 'mailer' } },
    { wider: 'every consumer', scopes: { ...within, consumer: null } },
  ])('not with $wider', async ({ scopes }) => {
    const book = await accessBook()
    expect(await book.create(maker, 'wide', scopes, null, null)).toMatchObject({ kind: 'too_wide' })
    expect(await book.list(admin)).toEqual([])
  })

  test('one within its scope is made', async () => {
    const book = await accessBook()
    expect(await book.create(maker, 'narrow', within, null, null)).toMatchObject({ kind: 'created' })
  })

  test.each([
    { child: 'never ends', outlivesBy: null, made: false },
    { child: 'ends a ms later', outlivesBy: 1, made: false },
    { child: 'ends with it', outlivesBy: 0, made: true },
    { child: 'ends before it', outlivesBy: -1, made: true },
  ])('by a key that ends, one that $child: $made', async ({ outlivesBy, made: isMade }) => {
    const book = await accessBook()
    const end = clock.now + 60_000
    const { secret } = await made(book, { ...within, actions: ['admin', 'read'] }, end)
    const ending = book.authenticate(`Bearer ${secret}`)
    if (ending === null) throw new Error('the key was just made')
    const outcome = await book.create(ending, 'child', within, outlivesBy === null ? null : end + outlivesBy, null)
    if (isMade) {
      expect(outcome.kind).toBe('created')
    } else {
      expect(outcome).toEqual({
        kind: 'too_wide',
        detail:
          'The new key would outlive the key that makes it: give it an expires_at not after 2026-11-30T00:01:00.000Z.',
      })
      expect(await book.list(admin)).toHaveLength(1)
    }
  })

  test('a key that ends lists and revokes those that outlive it', async () => {
    const book = await accessBook()
    const { key } = await made(book, within)
    const ending: Caller = { ...maker, expiresAt: clock.now + 1000 }
    expect((await book.list(ending)).map(({ id }) => id)).toEqual([key.id])
    expect(await book.revoke(ending, key.id, null)).toBe('revoked')
  })

  test('keys outside its scope are neither listed nor revoked, those within are whatever their actions', async () => {
    const book = await accessBook()
    const foreign = [await made(book), await made(book, { ...refunds, consumer: 'mailer' })]
    const own = await made(book, { actions: ['claim', 'operate'], classes: ['refund.issued'], consumer: 'billing' })
    expect((await book.list(maker)).map(({ id }) => id)).toEqual([own.key.id])
    for (const { key, secret } of foreign) {
      expect(await book.revoke(maker, key.id, null)).toBe('absent')
      expect(book.authenticate(`Bearer ${secret}`)).not.toBeNull()
    }
    expect(await book.revoke(maker, own.key.id, null)).toBe('revoked')
  })
})

describe('the audit', () => {
  test('has one line for each key made and revoked, with who and what', async () => {
    const book = await accessBook()
    const { key } = await made(book, refunds)
    await book.revoke(admin, key.id, 'request-2')
    const lines =
      await sql`SELECT actor, action, request_id, before::text, after::text FROM audit WHERE target = ${key.id} ORDER BY id`
    const scopes = { name: 'a key', scopes: refunds }
    expect(
      lines.map(({ before, after, ...line }) => ({ ...line, before: JSON.parse(before), after: JSON.parse(after) })),
    ).toEqual([
      {
        actor: 'key:root',
        action: 'api_key.create',
        request_id: 'request-1',
        before: null,
        after: { ...scopes, expires_at: null },
      },
      { actor: 'key:root', action: 'api_key.revoke', request_id: 'request-2', before: scopes, after: null },
    ])
  })

  test('that can not be written leaves no key made and none revoked', async () => {
    const book = await accessBook()
    const { key, secret } = await made(book)
    await sql`ALTER TABLE audit ADD CONSTRAINT refuse_all CHECK (actor = 'nobody') NOT VALID`
    try {
      await expect(made(book)).rejects.toThrow(/refuse_all/)
      await expect(book.revoke(admin, key.id, null)).rejects.toThrow(/refuse_all/)
    } finally {
      await sql`ALTER TABLE audit DROP CONSTRAINT refuse_all`
    }
    await book.refresh()
    expect((await book.list(admin)).map(({ id, revokedAt }) => ({ id, revokedAt }))).toEqual([
      { id: key.id, revokedAt: null },
    ])
    expect(book.authenticate(`Bearer ${secret}`)).not.toBeNull()
  })
})
