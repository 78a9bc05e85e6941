import type { KeyScopes, KeyStore, StoredKey } from '@ranbook/rules'
import type { TransactionSql } from 'postgres'
import { writeAudit } from './audit-store.ts'
import type { ColdConnections } from './cold-connections.ts'
import * as statement from './key-statements.ts'
import { onlyRow } from './only-row.ts'

type KeyRow = {
  id: string
  name: string
  secret_sha256: string
  scopes: string
  created_at: number
  created_by: string
  expires_at: number | null
  last_used_at: number | null
  revoked_at: number | null
}

/** API keys in Postgres. */
export function createKeyStore({ refresh, changes, reads }: Omit<ColdConnections, 'claims'>): KeyStore {
  const change = <T>(work: (transaction: TransactionSql) => Promise<T>): Promise<T> =>
    changes.use(async (session) => (await session.begin(work)) as T)
  return {
    async revision() {
      const rows = await refresh.use((session) => session.unsafe<{ revision: number }[]>(statement.KEY_REVISION))
      return onlyRow(rows).revision
    },

    async readLive() {
      const rows = await refresh.use((session) =>
        session.unsafe<{ revision: number; keys: string }[]>(statement.READ_LIVE_KEYS),
      )
      const { revision, keys } = onlyRow(rows)
      return { revision, keys: (JSON.parse(keys) as KeyRow[]).map(storedKey) }
    },

    async list() {
      const rows = await reads.use((session) => session.unsafe<KeyRow[]>(statement.LIST_KEYS))
      return rows.map(storedKey)
    },

    async read(id) {
      const [row] = await reads.use((session) => session.unsafe<KeyRow[]>(statement.READ_KEY, [id]))
      return row === undefined ? null : storedKey(row)
    },

    insert: (key, audit) =>
      change(async (transaction) => {
        await transaction.unsafe(statement.BUMP_KEY_REVISION)
        const { id, name, secretSha256, scopes, createdBy, expiresAt } = key
        await transaction.unsafe(statement.INSERT_KEY, [
          id,
          name,
          secretSha256,
          JSON.stringify(scopes),
          createdBy,
          expiresAt,
        ])
        await writeAudit(transaction, audit)
        const [row] = await transaction.unsafe<KeyRow[]>(statement.READ_KEY, [id])
        return storedKey(row as KeyRow)
      }),

    revoke: (id, audit) =>
      change(async (transaction) => {
        await transaction.unsafe(statement.BUMP_KEY_REVISION)
        const revoked = await transaction.unsafe(statement.REVOKE_KEY, [id])
        if (revoked.length === 0) return false
        await writeAudit(transaction, audit)
        return true
      }),

    async noteUse(uses) {
      await reads.use((session) => session.unsafe(statement.NOTE_KEY_USE, [JSON.stringify(uses)]))
    },
  }
}

function storedKey(row: KeyRow): StoredKey {
  return {
    id: row.id,
    name: row.name,
    secretSha256: row.secret_sha256,
    scopes: JSON.parse(row.scopes) as KeyScopes,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  }
}
