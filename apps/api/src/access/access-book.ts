import type { AuditEntry, AuditLine, KeyScopes, StoredKey } from '@ranbook/rules'
import type { Caller } from './caller.ts'

/** A key without anything of its secret. */
export type ApiKeyView = Omit<StoredKey, 'secretSha256'>

/** API keys: the check is synchronous from a cache that is re-read each second; revoking is in force here at once. */
export type AccessBook = {
  /** The caller of `Authorization: Bearer …`, or null for anything that is not a live key. Constant time in the secret. */
  authenticate(authorization: string | undefined): Caller | null
  /** Newest first. Only keys that the caller could have made: others look absent. */
  list(by: Caller): Promise<ApiKeyView[]>
  /** The secret is in the answer and nowhere else. A key can't mint a wider one, nor one that outlives it: `too_wide`. */
  create(
    by: Caller,
    name: string,
    scopes: KeyScopes,
    expiresAt: number | null,
    requestId: string | null,
  ): Promise<{ kind: 'created'; key: ApiKeyView; secret: string } | { kind: 'too_wide'; detail: string }>
  revoke(by: Caller, id: string, requestId: string | null): Promise<'revoked' | 'absent'>
}

/** The audit as people read it. */
export type AuditBook = {
  /** What people did to a record, oldest first; the newest 200 lines where there are more. */
  ofRecord(id: string): Promise<AuditLine[]>
  /** Adds a line. */
  write(entry: AuditEntry): Promise<void>
}
