import { timingSafeEqual } from 'node:crypto'
import { type Action, actions } from '@ranbook/contract'
import { type AuditEntry, findWidening, type KeyStore, type StoredKey } from '@ranbook/rules'
import { createFreshCopy } from '../ledger/fresh-copy.ts'
import type { AccessBook, ApiKeyView } from './access-book.ts'
import { apiKeyDigest, apiKeyId, makeApiKey } from './api-key-text.ts'
import type { Caller } from './caller.ts'

export type AccessBookDeps = {
  keys: KeyStore
  /** Beside those of the database: every action on everything, for ever. Null: there is none. */
  adminKey: string | null
  /** ms since 1970; expiry is judged by it. */
  now: () => number
  /** A clock that nobody can set, in ms from anywhere. */
  monotonicMs: () => number
  /** Unpredictable bytes. */
  randomBytes: (count: number) => Uint8Array
}

/** The uses of a key are written down at most this often: to the minute is enough to find the unused ones. */
const noteUseEveryMs = 60_000

/** `digest`: the hex digits of the key's SHA-256, as bytes. */
type LiveKey = { digest: Buffer; caller: Caller }

export type KeptAccessBook = AccessBook & { refresh(): Promise<void>; noteUses(): Promise<void> }

/**
 * API keys from a copy of the live ones. `refresh` re-reads what was made or revoked elsewhere, `noteUses` writes down
 * which keys were used; call each every second. While the database can't be reached, keys go on verifying from the copy, so that
 * `/metrics` answers: nothing that a key revoked meanwhile might reach is served without the same database, and claims
 * are refused after 2 s (`PoliciesStale`).
 */
export async function createAccessBook(deps: AccessBookDeps): Promise<KeptAccessBook> {
  const { keys, now } = deps
  const admin =
    deps.adminKey === null ? null : { digest: Buffer.from(apiKeyDigest(deps.adminKey)), caller: adminCaller }
  // One for all: a buffer per request costs more than the hash.
  const asked = Buffer.alloc(64)
  const notedAt = new Map<string, number>()
  let uses = new Map<string, number>()

  const copy = await createFreshCopy({
    revision: keys.revision,
    read: async () => {
      const read = await keys.readLive()
      return { revision: read.revision, value: new Map(read.keys.map((key) => [key.id, liveKey(key)])) }
    },
    monotonicMs: deps.monotonicMs,
  })

  const noteUse = (id: string, at: number): void => {
    if (at - (notedAt.get(id) ?? 0) < noteUseEveryMs) return
    notedAt.set(id, at)
    uses.set(id, at)
  }

  const noteUses = async (): Promise<void> => {
    if (uses.size === 0) return
    const noted = uses
    uses = new Map()
    try {
      await keys.noteUse([...noted].map(([id, at]) => ({ id, at })))
    } catch (error) {
      uses = new Map([...noted, ...uses])
      throw error
    }
  }

  return {
    authenticate(authorization) {
      const text = bearerText(authorization)
      if (text === null) return null
      const id = apiKeyId(text)
      const key = id === null ? undefined : copy.current().get(id)
      if (key === undefined && admin === null) return null
      asked.write(apiKeyDigest(text), 'latin1')
      if (id !== null && key !== undefined && timingSafeEqual(asked, key.digest)) {
        const at = now()
        if (key.caller.expiresAt !== null && at >= key.caller.expiresAt) return null
        noteUse(id, at)
        return key.caller
      }
      return admin !== null && timingSafeEqual(asked, admin.digest) ? admin.caller : null
    },

    async list(by) {
      const all = await keys.list()
      return all.filter((key) => mayManage(by, key)).map(withoutSecret)
    },

    async create(by, name, scopes, expiresAt, requestId) {
      const widening = findWidening({ actions: by.actions, ...by.scope }, scopes)
      if (widening !== null) {
        return {
          kind: 'too_wide',
          detail: `The new key would reach ${widening}, which the key that makes it does not.`,
        }
      }
      if (by.expiresAt !== null && (expiresAt === null || expiresAt > by.expiresAt)) {
        const end = new Date(by.expiresAt).toISOString()
        return {
          kind: 'too_wide',
          detail: `The new key would outlive the key that makes it: give it an expires_at not after ${end}.`,
        }
      }
      const { id, text } = makeApiKey(deps.randomBytes)
      const made = {
        id,
        name,
        secretSha256: apiKeyDigest(text),
        scopes,
        createdBy: by.actor,
        expiresAt,
      }
      const after = JSON.stringify({
        name,
        scopes,
        expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      })
      const key = await keys.insert(made, keyAudit(by, 'api_key.create', id, requestId, { before: null, after }))
      await copy.refresh()
      return { kind: 'created', key: withoutSecret(key), secret: text }
    },

    async revoke(by, id, requestId) {
      const key = await keys.read(id)
      if (key === null || key.revokedAt !== null || !mayManage(by, key)) return 'absent'
      const before = JSON.stringify({ name: key.name, scopes: key.scopes })
      const revoked = await keys.revoke(id, keyAudit(by, 'api_key.revoke', id, requestId, { before, after: null }))
      await copy.refresh()
      return revoked ? 'revoked' : 'absent'
    },

    refresh: copy.refresh,
    noteUses,
  }
}

const adminCaller: Caller = {
  actor: 'key:admin',
  name: 'admin key',
  actions: new Set<Action>(actions),
  scope: { classes: ['*'], consumer: null },
  expiresAt: null,
}

function liveKey(key: StoredKey): LiveKey {
  const { actions: allowed, classes, consumer } = key.scopes
  return {
    digest: Buffer.from(key.secretSha256),
    caller: {
      actor: `key:${key.id}`,
      name: key.name,
      actions: new Set(allowed),
      scope: { classes, consumer },
      expiresAt: key.expiresAt,
    },
  }
}

const SCHEME = 'bearer '

function bearerText(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length <= SCHEME.length) return null
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null
  return authorization.slice(SCHEME.length).trim()
}

/** Who may make keys may see and revoke those within its classes and consumer, whatever their actions. */
function mayManage(by: Caller, key: StoredKey): boolean {
  return findWidening({ actions: by.actions, ...by.scope }, { ...key.scopes, actions: [] }) === null
}

function withoutSecret({ secretSha256: _secret, ...view }: StoredKey): ApiKeyView {
  return view
}

function keyAudit(
  by: Caller,
  action: string,
  target: string,
  requestId: string | null,
  change: Pick<AuditEntry, 'before' | 'after'>,
): AuditEntry {
  return { actor: by.actor, action, target, reason: null, requestId, ...change }
}
