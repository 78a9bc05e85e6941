import { actions } from '@ranbook/contract'
import type { KeyStore } from '@ranbook/rules'
import { apiKeyDigest, makeApiKey } from '../access/api-key-text.ts'

/**
 * Makes the first API key of a database that has none, with every action on everything; null where there are keys
 * already, revoked ones included. Only its digest is stored: what is returned is the only copy. Two first starts at the
 * same moment make one each, and each is shown where it was made.
 */
export async function firstAdminKey(
  keys: Pick<KeyStore, 'list' | 'insert'>,
  randomBytes: (count: number) => Uint8Array,
): Promise<string | null> {
  if ((await keys.list()).length > 0) return null
  const { id, text } = makeApiKey(randomBytes)
  const name = 'first admin key'
  const scopes = { actions: [...actions], classes: ['*'], consumer: null }
  await keys.insert(
    { id, name, secretSha256: apiKeyDigest(text), scopes, createdBy: 'system', expiresAt: null },
    {
      actor: 'system',
      action: 'api_key.create',
      target: id,
      reason: 'first start without RANBOOK_ADMIN_KEY',
      before: null,
      after: JSON.stringify({ name, scopes, expires_at: null }),
      requestId: null,
    },
  )
  return text
}
