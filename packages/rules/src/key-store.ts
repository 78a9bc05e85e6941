import type { AuditEntry } from './audit-entry.ts'
import type { KeyScopes } from './scope.ts'

/** An API key as stored. Times in ms. */
export type StoredKey = {
  id: string
  name: string
  /** 64 hex digits. */
  secretSha256: string
  scopes: KeyScopes
  createdAt: number
  createdBy: string
  expiresAt: number | null
  /** A minute or so behind. */
  lastUsedAt: number | null
  revokedAt: number | null
}

export type NewKey = Pick<StoredKey, 'id' | 'name' | 'secretSha256' | 'scopes' | 'createdBy' | 'expiresAt'>

/** Where API keys stand, and the audit. Throws `StoreError`. */
export type KeyStore = {
  /** +1 with every key made or revoked, never seen before the change itself: equal numbers, equal keys. */
  revision(): Promise<number>
  /** Keys that are not revoked; an expired one is among them. */
  readLive(): Promise<{ revision: number; keys: StoredKey[] }>
  /** All, newest first. */
  list(): Promise<StoredKey[]>
  read(id: string): Promise<StoredKey | null>
  /** With its audit line in one transaction. */
  insert(key: NewKey, audit: AuditEntry): Promise<StoredKey>
  /** With its audit line in one transaction. False where no such key is live. */
  revoke(id: string, audit: AuditEntry): Promise<boolean>
  /** Never moves a time back. */
  noteUse(uses: readonly { id: string; at: number }[]): Promise<void>
}

/** One line of the audit as it stands. */
export type AuditLine = AuditEntry & { id: number; at: number }

/** The audit beside the changes that write their own lines. Throws `StoreError`. */
export type AuditStore = {
  /** Adds a line by itself, for a change whose store keeps no audit. */
  write(entry: AuditEntry): Promise<void>
  /** Lines about one object whose action begins with `actionPrefix`, oldest first. */
  linesAbout(target: string, actionPrefix: string, limit: number): Promise<AuditLine[]>
}
