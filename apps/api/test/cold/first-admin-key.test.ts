import { randomBytes } from 'node:crypto'
import { actions } from '@ranbook/contract'
import { beforeEach, expect, test } from 'vitest'
import { apiKeyDigest } from '../../src/access/api-key-text.ts'
import { firstAdminKey } from '../../src/process/first-admin-key.ts'
import { coldDatabase } from './cold-database.ts'

const { sql } = await coldDatabase()

beforeEach(async () => {
  await sql`DELETE FROM api_key`
})

test('the first key of a database may do everything, and is told once', async () => {
  const made = await firstAdminKey(sql, randomBytes)
  const rows = await sql`SELECT encode(secret_sha256, 'hex') AS digest, scopes, expires_at FROM api_key`
  expect(rows).toEqual([
    {
      digest: apiKeyDigest(made ?? ''),
      scopes: { actions: [...actions], classes: ['*'], consumer: null },
      expires_at: null,
    },
  ])
  expect(await firstAdminKey(sql, randomBytes)).toBeNull()
  await sql`UPDATE api_key SET revoked_at = now()`
  expect(await firstAdminKey(sql, randomBytes)).toBeNull()
})

test('of four first starts at once one makes a key', async () => {
  for (let round = 1; round <= 5; round++) {
    await sql`DELETE FROM api_key`
    const made = await Promise.all(Array.from({ length: 4 }, () => firstAdminKey(sql, randomBytes)))
    expect(made.filter((key) => key !== null)).toHaveLength(1)
    expect(await sql`SELECT id FROM api_key`).toEqual([{ id: expect.any(String) }])
    expect(await sql`SELECT actor FROM audit WHERE target IN (SELECT id FROM api_key)`).toEqual([{ actor: 'system' }])
  }
})
