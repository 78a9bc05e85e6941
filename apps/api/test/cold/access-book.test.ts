import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { actions } from '@ranbook/contract'
import { type KeyScopes, StoreError } from '@ranbook/rules'
import { beforeEach, describe, expect, test } from 'vitest'
import { makeApiKey } from '../../src/access/api-key-text.ts'
import type { Caller } from '../../src/access/caller.ts'
import { createAccessBook } from '../../src/access/create-access-book.ts'
import { repeatedly } from '../../src/jobs/job.ts'
import { createKeyStore } from '../../src/stores/postgres/key-store.ts'
import { coldDatabase } from './cold-database.ts'

const { sql, open, cold } = await coldDatabase()
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

describe('a key that was made', () => {
  test('is accepted with its name, actions and scope', async () => {
    const book = await accessBook()
    const { key, secret } = await made(book, refunds)
    expect(book.authenticate(`Bearer ${secret}`)).toEqual({
      actor: `key:${key.id}`,
      name: 'a key',
      actions: new Set(['claim', 'read']),
      scope: { classes: ['refund.*'], consumer: 'billing' },
      expiresAt: null,
    })
    expect(book.authenticate(`bearer  ${secret} `)?.actor).toBe(`key:${key.id}`)
  })

  test('has 256 random bits and a checksum, and its id tells nothing of them', async () => {
    const book = await accessBook()
    const { key, secret } = await made(book)
    expect(secret).toMatch(/^rbk_[0-9A-Za-z]{10}_[0-9A-Za-z]{49}$/)
    expect(secret.startsWith(`rbk_${key.id}_`)).toBe(true)
    expect(valueInBase62(secret.slice(-6))).toBe(crc32(secret.slice(0, -6)))
    expect((await made(book)).secret.slice(15)).not.toBe(secret.slice(15))
  })

  test('leaves nothing of its secret in the database', async () => {
    const { secret } = await made(await accessBook())
    const dump =
      await sql`SELECT to_jsonb(k)::text AS text FROM api_key k UNION ALL SELECT to_jsonb(a)::text FROM audit a`
    const secretPart = secret.slice(15, 58)
    expect(dump.length).toBeGreaterThan(1)
    for (const { text } of dump) expect(text).not.toContain(secretPart)
  })

  test('is refused with any one character changed, cut short or made longer', async () => {
    const book = await accessBook()
    const { secret } = await made(book)
    for (let at = 0; at < secret.length; at++) {
      const other = secret[at] === 'x' ? 'y' : 'x'
      expect(book.authenticate(`Bearer ${secret.slice(0, at)}${other}${secret.slice(at + 1)}`)).toBeNull()
      expect(book.authenticate(`Bearer ${secret.slice(0, at)}`)).toBeNull()
    }
    expect(book.authenticate(`Bearer ${secret}0`)).toBeNull()
  })

  test('is refused with its id, another secret and a checksum that fits', async () => {
    const idBytes = randomBytes(8)
    const sameId = (count: number) => (count === idBytes.length ? idBytes : randomBytes(count))
    const keys = createKeyStore(own)
    const deps = { keys, adminKey, now: () => clock.now, monotonicMs: () => clock.now, randomBytes: sameId }
    const book = await createAccessBook(deps)
    const { key, secret } = await made(book)
    const forged = makeApiKey(sameId)
    expect(forged.id).toBe(key.id)
    expect(book.authenticate(`Bearer ${forged.text}`)).toBeNull()
    expect(book.authenticate(`Bearer ${secret}`)).not.toBeNull()
  })

  test('is refused under another scheme, twice, or bare', async () => {
    const book = await accessBook()
    const { secret } = await made(book)
    const wrong = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      secret,
      `Basic ${secret}`,
      `Bearer ${secret} ${secret}`,
      `Bearer,${secret}`,
    ]
    for (const header of wrong) expect(book.authenticate(header)).toBeNull()
  })

  test('is known to other processes after one re-read', async () => {
    const [here, there] = [await accessBook(), await accessBook(await cold())]
    const { secret } = await made(here)
    expect(there.authenticate(`Bearer ${secret}`)).toBeNull()
    await there.refresh()
    expect(there.authenticate(`Bearer ${secret}`)).not.toBeNull()
  })

  test('expires by the clock at the moment it is used', async () => {
    const book = await accessBook()
    const { secret } = await made(book, everything, clock.now + 1000)
    clock.now += 999
    expect(book.authenticate(`Bearer ${secret}`)).not.toBeNull()
    clock.now += 1
    expect(book.authenticate(`Bearer ${secret}`)).toBeNull()
  })

  test('is accepted beside a second one of the same name, so that keys can be rotated', async () => {
    const book = await accessBook()
    const [first, second] = [await made(book), await made(book)]
    await book.revoke(admin, first.key.id, null)
    expect(book.authenticate(`Bearer ${first.secret}`)).toBeNull()
    expect(book.authenticate(`Bearer ${second.secret}`)).not.toBeNull()
  })
})

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function valueInBase62(text: string): number {
  return [...text].reduce((value, digit) => value * 62 + base62.indexOf(digit), 0)
}

describe('revoking', () => {
  test('is in force at once here, and in another process without anybody telling it', async () => {
    const [here, there] = [await accessBook(), await accessBook(await cold())]
    const { key, secret } = await made(here)
    const failures: unknown[] = []
    const job = repeatedly(500, there.refresh, (error) => void failures.push(error))
    await expect.poll(() => there.authenticate(`Bearer ${secret}`)).not.toBeNull()

    expect(await here.revoke(admin, key.id, null)).toBe('revoked')
    expect(here.authenticate(`Bearer ${secret}`)).toBeNull()
    await expect.poll(() => there.authenticate(`Bearer ${secret}`)).toBeNull()
    await job.stop()
    expect(failures).toEqual([])
  })

  test('a second time, or what was never made, is absent', async () => {
    const book = await accessBook()
    const { key } = await made(book)
    expect(await book.revoke(admin, key.id, null)).toBe('revoked')
    expect(await book.revoke(admin, key.id, null)).toBe('absent')
    expect(await book.revoke(admin, 'nobody', null)).toBe('absent')
  })

  test('by many at once happens once', async () => {
    const book = await accessBook()
    const { key } = await made(book)
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => book.revoke(admin, key.id, null)))
    expect(outcomes.filter((outcome) => outcome === 'revoked')).toHaveLength(1)
    const lines = await sql`SELECT 1 FROM audit WHERE action = 'api_key.revoke' AND target = ${key.id}`
    expect(lines).toHaveLength(1)
  })
})

describe('the admin key', () => {
  test('may do everything and is refused when it is not given exactly', async () => {
    const book = await accessBook()
    const caller = book.authenticate(`Bearer ${adminKey}`)
    expect(caller).toMatchObject({ actor: 'key:admin', name: 'admin key', expiresAt: null })
    expect(caller?.actions).toEqual(new Set(actions))
    expect(caller?.scope).toEqual({ classes: ['*'], consumer: null })
    expect(book.authenticate(`Bearer ${adminKey}x`)).toBeNull()
    expect(book.authenticate(`Bearer ${adminKey.slice(0, -1)}`)).toBeNull()
  })

  test('may look like a key of the database and is accepted all the same', async () => {
    const { secret } = await made(await accessBook())
    await sql`DELETE FROM api_key`
    expect((await accessBook(own, secret)).authenticate(`Bearer ${secret}`)?.actor).toBe('key:admin')
  })

  test('unset accepts nothing', async () => {
    expect((await accessBook(own, null)).authenticate(`Bearer ${adminKey}`)).toBeNull()
  })
})

describe('last_used_at', () => {
  const lastUsed = async (id: string): Promise<number | null> => {
    const [row] =
      await sql`SELECT floor(extract(epoch FROM last_used_at) * 1000)::float8 AS at FROM api_key WHERE id = ${id}`
    return row?.at ?? null
  }

  test('is written after the use and at most once a minute', async () => {
    const book = await accessBook()
    const { key, secret } = await made(book)
    await book.noteUses()
    expect(await lastUsed(key.id)).toBeNull()

    const firstUse = clock.now
    book.authenticate(`Bearer ${secret}`)
    await book.noteUses()
    expect(await lastUsed(key.id)).toBe(firstUse)

    clock.now += 59_999
    book.authenticate(`Bearer ${secret}`)
    await book.noteUses()
    expect(await lastUsed(key.id)).toBe(firstUse)

    clock.now += 1
    book.authenticate(`Bearer ${secret}`)
    await book.noteUses()
    expect(await lastUsed(key.id)).toBe(clock.now)
  })

  test('never moves back when a process notes an older use later', async () => {
    const keys = createKeyStore(own)
    const { key } = await made(await accessBook())
    await keys.noteUse([{ id: key.id, at: clock.now }])
    await keys.noteUse([{ id: key.id, at: clock.now - 5000 }])
    expect(await lastUsed(key.id)).toBe(clock.now)
  })
})

test('keys go on verifying while the database can not be reached, and re-reading says that it failed', async () => {
  const client = await open()
  const book = await accessBook(client.cold)
  const { secret } = await made(book)
  await client.close()
  await expect(book.refresh()).rejects.toBeInstanceOf(StoreError)
  expect(book.authenticate(`Bearer ${secret}`)).not.toBeNull()
})
