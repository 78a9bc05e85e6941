import { actions } from '@ranbook/contract'
import { apiKeyDigest, makeApiKey } from '../access/api-key-text.ts'
import { writeAudit } from '../stores/postgres/audit-store.ts'
import { BUMP_KEY_REVISION, INSERT_KEY, LIST_KEYS } from '../stores/postgres/key-statements.ts'
import type { Session } from '../stores/postgres/lane.ts'

/**
 * Makes the first API key of a database that has none, with every action on everything; null where there are keys
 * already, revoked ones included. Only its digest is stored: what is returned is the only copy. In one transaction with
 * its audit line; of several first starts at the same moment one makes it, and the others answer null.
 */
export async function firstAdminKey(
  session: Pick<Session, 'begin'>,
  randomBytes: (count: number) => Uint8Array,
): Promise<string | null> {
  return session.begin(async (transaction) => {
    // Waits for whoever else is making a key, so that the list shows it.
    await transaction.unsafe(BUMP_KEY_REVISION)
    if ((await transaction.unsafe(LIST_KEYS)).length > 0) return null
    const { id, text } = makeApiKey(randomBytes)
    const name = 'first admin key'
    const scopes = { actions: [...actions], classes: ['*'], consumer: null }
    await transaction.unsafe(INSERT_KEY, [id, name, apiKeyDigest(text), JSON.stringify(scopes), 'system', null])
    await writeAudit(transaction, {
      actor: 'system',
      action: 'api_key.create',
      target: id,
      reason: 'first start without RANBOOK_ADMIN_KEY',
      before: null,
      after: JSON.stringify({ name, scopes, expires_at: null }),
      requestId: null,
    })
    return text
  })
}
