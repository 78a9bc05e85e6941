import type { Bounded, RetentionStore } from '@ranbook/rules'
import type { ColdConnections } from './cold-connections.ts'
import type { Session } from './lane.ts'
import { likePatterns } from './like-patterns.ts'
import { onlyRow } from './only-row.ts'
import { BUMP_WINDOW_REVISION } from './place-statements.ts'
import * as statement from './retention-statements.ts'
import { storedDigest } from './stored-fields.ts'

type Transaction = Pick<Session, 'unsafe'>

type ProgressRow = {
  class: string
  keys_complete_since: number | null
  ran_at: number | null
  took_ms: number | null
  erased: number
  forgotten: number
}

/** Retention of the ledger in Postgres. */
export function createRetentionStore({ upkeep, reads }: Pick<ColdConnections, 'upkeep' | 'reads'>): RetentionStore {
  /** One batch in one transaction; null where the class is another's. */
  const batch = (
    className: string,
    retentionMs: number,
    prune: (transaction: Transaction, cutoff: string) => Promise<number>,
  ): Promise<number | null> =>
    upkeep.use((session) =>
      session.begin(async (transaction) => {
        const lock = onlyRow(await transaction.unsafe<{ locked: boolean }[]>(statement.TRY_LOCK_CLASS, [className]))
        if (!lock.locked) return null
        const { cutoff } = onlyRow(await transaction.unsafe<{ cutoff: string }[]>(statement.CUTOFF, [retentionMs]))
        return prune(transaction, cutoff)
      }),
    )

  return {
    async classesSeen() {
      const rows = await upkeep.use((session) => session.unsafe<{ class: string }[]>(statement.READ_CLASSES_SEEN))
      return rows.map((row) => row.class)
    },

    eraseDetails: (className, retentionMs, limit) =>
      batch(className, retentionMs, async (transaction, cutoff) => {
        const ids = await findDue(transaction, className, false, cutoff, limit)
        if (ids.length === 0) return 0
        const erased = await countOf(transaction, statement.ERASE_DETAILS, [JSON.stringify(ids), cutoff])
        await transaction.unsafe(statement.NOTE_PROGRESS, [className, erased, 0, null])
        return erased
      }),

    forgetKeys: (className, retentionMs, limit) =>
      batch(className, retentionMs, async (transaction, cutoff) => {
        const whole = await findDue(transaction, className, false, cutoff, limit)
        const erased = await findDue(transaction, className, true, cutoff, limit - whole.length)
        const ids = [...whole, ...erased].sort()
        if (ids.length === 0) return 0
        const forgotten = await countOf(transaction, statement.FORGET_KEYS, [JSON.stringify(ids), cutoff])
        await transaction.unsafe(statement.NOTE_PROGRESS, [className, 0, forgotten, cutoff])
        return forgotten
      }),

    async noteRun(runs) {
      if (runs.length === 0) return
      const rows = runs.map(({ class: name, tookMs }) => ({ class: name, took_ms: Math.round(tookMs) }))
      await upkeep.use((session) => session.unsafe(statement.NOTE_RUN, [JSON.stringify(rows)]))
    },

    releaseLedger: (className) =>
      upkeep.use((session) =>
        session.begin(async (transaction) => {
          const released = await transaction.unsafe(statement.RELEASE_LEDGER, [className])
          if (released.length > 0) await transaction.unsafe(BUMP_WINDOW_REVISION)
        }),
      ),

    progress: (scope, after, limit) =>
      reads.use(async (session) => {
        const patterns = JSON.stringify(likePatterns(scope.classes))
        const rows = await session.unsafe<ProgressRow[]>(statement.READ_PROGRESS, [
          patterns,
          scope.consumer,
          after,
          limit,
        ])
        const { now } = onlyRow(await session.unsafe<{ now: number }[]>(statement.READ_CLOCK))
        return {
          now,
          rows: rows.map((row) => ({
            class: row.class,
            keysCompleteSince: row.keys_complete_since,
            lastRun: row.ran_at === null ? null : { at: row.ran_at, tookMs: row.took_ms ?? 0 },
            erased: row.erased,
            forgotten: row.forgotten,
          })),
        }
      }),

    countSettled: (ranges, limit) =>
      upkeep.use(async (session) => {
        const counts: Bounded[] = []
        for (const { class: name, erased, from, to } of ranges) {
          let count = 0
          for (const flag of erased === null ? [false, true] : [erased]) {
            count += await countOf(session, statement.COUNT_SETTLED, [name, flag, from ?? 0, to, limit + 1])
          }
          counts.push(bounded(count, limit))
        }
        return counts
      }),

    countRecords: (classes, limit) =>
      upkeep.use(async (session) => {
        let count = 0
        for (const name of classes) {
          if (count > limit) break
          count += await countOf(session, statement.COUNT_RECORDS, [name, limit + 1 - count])
        }
        return bounded(count, limit)
      }),
  }
}

function bounded(count: number, limit: number): Bounded {
  return { count: Math.min(count, limit), more: count > limit }
}

/** Ascending, so that two statements that lock the same records do it in one order. */
async function findDue(
  transaction: Transaction,
  className: string,
  erased: boolean,
  cutoff: string,
  limit: number,
): Promise<string[]> {
  if (limit <= 0) return []
  const rows = await transaction.unsafe<{ id: string }[]>(statement.FIND_DUE, [className, erased, cutoff, limit])
  return rows.map(({ id }) => storedDigest(id)).sort()
}

async function countOf(
  session: Transaction,
  text: string,
  parameters: (string | number | boolean | null)[],
): Promise<number> {
  return onlyRow(await session.unsafe<{ count: number }[]>(text, parameters)).count
}
