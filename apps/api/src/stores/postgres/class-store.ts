import {
  type ClassStore,
  type PolicyChange,
  type PolicyEdit,
  type Scope,
  type SeenClass,
  type SeenPair,
  type StoredPolicy,
  shownPolicy,
} from '@ranbook/rules'
import { writeAudit } from './audit-store.ts'
import * as statement from './class-statements.ts'
import type { ColdConnections } from './cold-connections.ts'
import type { Session } from './lane.ts'
import { likePatterns } from './like-patterns.ts'
import { onlyRow } from './only-row.ts'
import { type PlacesRow, placesKnown } from './place-rows.ts'
import { placeWrites, readAllPolicies, writeEras } from './place-writes.ts'
import { readKept } from './read-kept.ts'
import { type PolicyRow, storedPolicy } from './stored-policy.ts'

type PoliciesRow = PlacesRow & { revision: number; policy_revision: number; now: number; policies: string }

/** Policies and seen classes in Postgres. */
export function createClassStore({ refresh, claims, changes, reads }: ColdConnections): ClassStore {
  return {
    async revision() {
      const rows = await refresh.use((session) =>
        session.unsafe<{ revision: number; now: number }[]>(statement.REVISION),
      )
      return onlyRow(rows)
    },

    async readPolicies() {
      const rows = await refresh.use((session) => session.unsafe<PoliciesRow[]>(statement.READ_POLICIES))
      const { revision, policy_revision, now, policies, ...places } = onlyRow(rows)
      return {
        revision,
        policyRevision: policy_revision,
        policies: (JSON.parse(policies) as PolicyRow[]).map(storedPolicy),
        places: placesKnown(places),
        now,
      }
    },

    changePolicy: (name, decide) =>
      changes.use((session) => session.begin((transaction) => changePolicy(transaction, name, decide))),

    async readHistory(name, before, limit) {
      // Versions are 32-bit integers, so this is above every one.
      const below = before ?? 2_147_483_647
      const rows = await reads.use((session) =>
        session.unsafe<HistoryRow[]>(statement.READ_HISTORY, [name, below, limit]),
      )
      return rows.map(policyChange)
    },

    async listClasses(scope, after, limit) {
      const patterns = JSON.stringify(likePatterns(scope.classes))
      return reads.use(async (session) => {
        const names = await session.unsafe<{ name: string }[]>(statement.LIST_CLASS_NAMES, [
          patterns,
          scope.consumer,
          after,
          limit,
        ])
        return readClasses(
          session,
          scope,
          names.map(({ name }) => name),
        )
      })
    },

    async readClass(scope, name) {
      const [seen] = await reads.use((session) => readClasses(session, scope, [name]))
      return seen as SeenClass
    },

    markReviewed: (name, audit) =>
      changes.use((session) =>
        session.begin(async (transaction) => {
          const marked = await transaction.unsafe(statement.MARK_REVIEWED, [name, audit.actor])
          if (marked.length > 0) await writeAudit(transaction, audit)
        }),
      ),

    async addPairs(pairs, policyRevision) {
      const rows = await claims.use((session) =>
        session.unsafe<{ stood: boolean }[]>(statement.ADD_PAIRS, [JSON.stringify(pairs), policyRevision]),
      )
      return onlyRow(rows).stood
    },

    ...placeWrites(claims),

    async findPairs(scope, only, limit) {
      const parameters = [JSON.stringify(likePatterns(scope.classes)), scope.consumer, only.class, only.consumer, limit]
      const rows = await reads.use((session) =>
        session.unsafe<{ class: string; consumer: string; first_seen_at: number }[]>(statement.FIND_PAIRS, parameters),
      )
      return rows.map((row): SeenPair => ({ class: row.class, consumer: row.consumer, firstSeenAt: row.first_seen_at }))
    },

    readKept: (classNames) => reads.use((session) => readKept(session, classNames)),

    async ledgerBeganAt() {
      const [row] = await reads.use((session) => session.unsafe<{ began_at: number }[]>(statement.LEDGER_BEGAN_AT))
      if (row === undefined) throw new Error('the setting ledger_began_at is missing: the first migration writes it')
      return row.began_at
    },
  }
}

async function changePolicy(
  transaction: Pick<Session, 'unsafe'>,
  name: string,
  decide: (standing: StoredPolicy | null) => PolicyEdit | null,
): Promise<StoredPolicy | null> {
  await transaction.unsafe(statement.BUMP_POLICY_REVISION)
  const [standing] = await transaction.unsafe<PolicyRow[]>(statement.READ_POLICY, [name])
  const edit = decide(standing === undefined ? null : storedPolicy(standing))
  if (edit === null) return null
  const before = await readAllPolicies(transaction)
  const [last] = await transaction.unsafe<{ version: number }[]>(statement.LAST_VERSION, [name])
  const version = (last?.version ?? 0) + 1
  const { actor, reason } = edit.audit
  const text = edit.policy === null ? null : JSON.stringify(edit.policy)
  if (text === null) await transaction.unsafe(statement.DELETE_POLICY, [name])
  else await transaction.unsafe(statement.WRITE_POLICY, [name, version, text, actor])
  const [written] = await transaction.unsafe<{ at: number }[]>(statement.WRITE_HISTORY, [
    name,
    version,
    // Read by many, and for ever: no place for a secret.
    edit.policy === null ? null : JSON.stringify(shownPolicy(edit.policy)),
    JSON.stringify(edit.diff),
    actor,
    reason,
  ])
  await writeEras(transaction, before, await readAllPolicies(transaction))
  await writeAudit(transaction, edit.audit)
  return { name, version, policy: edit.policy, updatedAt: written?.at ?? 0, updatedBy: actor }
}

type ClassRow = {
  name: string
  version: number | null
  policy: string | null
  updated_at: number | null
  updated_by: string | null
  marked: boolean
  first_seen_at: number | null
  consumers: string
}

async function readClasses(session: Session, scope: Scope, names: readonly string[]): Promise<SeenClass[]> {
  const rows = await session.unsafe<ClassRow[]>(statement.READ_CLASSES, [JSON.stringify(names), scope.consumer])
  return rows.map((row) => {
    const { name, version, policy, updated_at, updated_by } = row
    const own =
      version === null || policy === null || updated_at === null || updated_by === null
        ? null
        : storedPolicy({ name, version, policy, updated_at, updated_by })
    return {
      name,
      own,
      reviewed: own !== null || row.marked,
      consumers: JSON.parse(row.consumers) as string[],
      firstSeenAt: row.first_seen_at,
    }
  })
}

type HistoryRow = {
  version: number
  policy: string | null
  diff: string
  at: number
  by: string
  reason: string | null
}

function policyChange(row: HistoryRow): PolicyChange {
  const { version, at, by, reason } = row
  const policy = row.policy === null ? null : (JSON.parse(row.policy) as Record<string, unknown>)
  return { version, policy, diff: JSON.parse(row.diff) as PolicyChange['diff'], at, by, reason }
}
