import { type ReplayItem, type ReplayStore, StoreError } from '@ranbook/rules'
import { writeAudit } from './audit-store.ts'
import type { ColdConnections } from './cold-connections.ts'
import { hasCode } from './has-code.ts'
import { onlyRow } from './only-row.ts'
import { type ReplayRow, storedReplay } from './replay-row.ts'
import * as statement from './replay-statements.ts'
import { stepReplay } from './step-replay.ts'

type ItemRow = { place: number; record_id: string; outcome: ReplayItem['outcome']; at: number }

/** Replays of the ledger's records in Postgres. */
export function createReplayStore({
  reads,
  changes,
  upkeep,
}: Pick<ColdConnections, 'reads' | 'changes' | 'upkeep'>): ReplayStore {
  return {
    create: (replay, audit) =>
      changes.use((session) =>
        session.begin(async (transaction) => {
          const { selection, scope } = replay
          const [row] = await transaction.unsafe<ReplayRow[]>(statement.CREATE_REPLAY, [
            replay.id,
            replay.needsApproval ? 'awaiting_approval' : 'running',
            replay.reason,
            replay.delivery,
            replay.idempotency,
            replay.createdBy,
            String(replay.needsApproval),
            JSON.stringify(selection),
            JSON.stringify(scope),
            replay.count,
            String(replay.more),
            replay.mayRunAgain,
          ])
          if (row === undefined) return null
          await writeAudit(transaction, audit)
          return storedReplay(row)
        }),
      ),

    async read(id) {
      const rows = await reads.use((session) => session.unsafe<ReplayRow[]>(statement.READ_REPLAY, [id]))
      return rows[0] === undefined ? null : storedReplay(rows[0])
    },

    async list(state, before, limit) {
      const rows = await reads.use((session) =>
        session.unsafe<ReplayRow[]>(statement.LIST_REPLAYS, [
          state,
          before?.createdAt ?? null,
          before?.id ?? null,
          limit,
        ]),
      )
      return rows.map(storedReplay)
    },

    async items(id, after, limit) {
      const rows = await reads.use((session) => session.unsafe<ItemRow[]>(statement.READ_ITEMS, [id, after, limit]))
      return rows.map(itemOf)
    },

    ofRecord: (recordId, limit) =>
      reads.use(async (session) => {
        const items = await session.unsafe<(ItemRow & { replay_id: string })[]>(statement.READ_ITEMS_OF_RECORD, [
          recordId,
          limit,
        ])
        if (items.length === 0) return []
        const ids = items.map(({ replay_id }) => replay_id)
        const rows = await session.unsafe<ReplayRow[]>(statement.READ_REPLAYS, [JSON.stringify(ids)])
        const replays = new Map(rows.map((row) => [row.id, storedReplay(row)]))
        return items.reverse().flatMap((item) => {
          const replay = replays.get(item.replay_id)
          return replay === undefined ? [] : [{ replay, item: itemOf(item) }]
        })
      }),

    change: (id, decide) =>
      changes.use((session) =>
        session.begin(async (transaction) => {
          const [row] = await transaction.unsafe<ReplayRow[]>(statement.LOCK_REPLAY, [id])
          if (row === undefined) return null
          const standing = storedReplay(row)
          const decided = decide(standing)
          if (decided === null) return standing
          const { state, approvedBy, audit } = decided
          const written = await transaction.unsafe<ReplayRow[]>(statement.SET_STATE, [id, state, approvedBy, null])
          await writeAudit(transaction, audit)
          return storedReplay(onlyRow(written))
        }),
      ),

    async step(limit, rules) {
      let stepping: string | null = null
      const at = (id: string): void => {
        stepping = id
      }
      try {
        return await upkeep.use((session) => session.begin((transaction) => stepReplay(transaction, limit, rules, at)))
      } catch (error) {
        if (stepping !== null && isTooWide(error)) {
          await upkeep.use((session) => session.unsafe(statement.FAIL_REPLAY, [stepping, tooWide]))
          return stepping
        }
        throw error
      }
    },
  }
}

/** query_canceled: the statement's time limit. To try it again would take as long. */
function isTooWide(error: unknown): boolean {
  return error instanceof StoreError && hasCode(error.cause, '57014')
}

const tooWide =
  'Its next records could not be found within the time limit. Cancel it, and narrow its filter by class or by time.'

function itemOf({ place, record_id, outcome, at }: ItemRow): ReplayItem {
  return { place, recordId: record_id, outcome, at }
}
