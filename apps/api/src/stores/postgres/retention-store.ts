import { type Bounded, dueUntil, type RetentionStore } from '@ranbook/rules'
import type { ColdConnections } from './cold-connections.ts'
import type { Session } from './lane.ts'
import { likePatterns } from './like-patterns.ts'
import { onlyRow } from './only-row.ts'
import { BUMP_WINDOW_REVISION } from './place-statements.ts'
import * as statement from './retention-statements.ts'
import { storedDigest } from './stored-fields.ts'

type Transaction = Pick<Session, 'unsafe'>

/** Batches of one store follow each other faster, their pauses included: a class without one for as long is free. */
const atWorkMs = 1000
/** A connection is held no longer by people who only look. */
const countForMs = 1000

type LockRow = { locked: boolean; now: number; worked_at: number | null }

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
  /** When this store noted its own work last, by class. */
  const workedAt = new Map<string, number>()

  /** One batch in one transaction; null where another store is at this class. */
  const batch = async (
    className: string,
    retentionMs: number,
    prune: (transaction: Transaction, until: number) => Promise<Progress | null>,
  ): Promise<number | null> => {
    const done = await upkeep.use((session) =>
      session.begin(async (transaction) => {
        const lock = onlyRow(await transaction.unsafe<LockRow[]>(statement.TRY_LOCK_CLASS, [className]))
        if (!lock.locked || isAnothers(lock, workedAt.get(className))) return null
        const progress = await prune(transaction, dueUntil(retentionMs, lock.now))
        if (progress === null) return { count: 0, worked_at: null }
        const { erased, forgotten, keysCompleteSince } = progress
        const noted = onlyRow(
          await transaction.unsafe<{ worked_at: number }[]>(statement.NOTE_PROGRESS, [
            className,
            erased,
            forgotten,
            keysCompleteSince,
          ]),
        )
        return { count: erased + forgotten, worked_at: noted.worked_at }
      }),
    )
    if (done === null) return null
    if (done.worked_at !== null) workedAt.set(className, done.worked_at)
    return done.count
  }

  return {
    async classesSeen() {
      const rows = await upkeep.use((session) => session.unsafe<{ class: string }[]>(statement.READ_CLASSES_SEEN))
      return rows.map((row) => row.class)
    },

    eraseDetails: (className, retentionMs, limit) =>
      batch(className, retentionMs, async (transaction, until) => {
        const due = await idsOf(transaction, statement.FIND_DUE_WHOLE, [className, until, limit])
        if (due.length === 0) return null
        const erased = await idsOf(transaction, statement.ERASE_DETAILS, [JSON.stringify(due), until])
        // Apart, so that it sees what came to the records before they were locked.
        await transaction.unsafe(statement.ERASE_TRACES, [JSON.stringify(erased)])
        return { erased: erased.length, forgotten: 0, keysCompleteSince: null }
      }),

    forgetKeys: (className, retentionMs, limit) =>
      batch(className, retentionMs, async (transaction, until) => {
        const bare = await idsOf(transaction, statement.FIND_DUE_ERASED, [className, until, limit])
        const whole = await idsOf(transaction, statement.FIND_DUE_WHOLE, [className, until, limit - bare.length])
        const due = [...bare, ...whole].sort()
        if (due.length === 0) return null
        const forgotten = await idsOf(transaction, statement.FORGET_KEYS, [JSON.stringify(due), until])
        await transaction.unsafe(statement.FORGET_TRACES, [JSON.stringify(forgotten)])
        return { erased: 0, forgotten: forgotten.length, keysCompleteSince: forgotten.length === 0 ? null : until }
      }),

    async noteRun(runs) {
      if (runs.length === 0) return
      const rows = runs.map(({ class: name, tookMs }) => ({ class: name, took_ms: Math.round(tookMs) }))
      const noted = await upkeep.use((session) =>
        session.unsafe<{ class: string; worked_at: number }[]>(statement.NOTE_RUN, [JSON.stringify(rows)]),
      )
      for (const row of noted) workedAt.set(row.class, row.worked_at)
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
      upkeep.use((session) =>
        countEach(
          ranges.flatMap(({ class: name, erased, ended }) => [
            ...(erased === true ? [] : [{ text: statement.COUNT_WHOLE, parameters: [name, ended.from, ended.to] }]),
            ...(erased === false ? [] : [{ text: statement.COUNT_ERASED, parameters: [name, ended.from, ended.to] }]),
          ]),
          session,
          limit,
        ),
      ),

    countRecords: (classes, limit) =>
      upkeep.use((session) =>
        countEach(
          classes.map((name) => ({ text: statement.COUNT_RECORDS, parameters: [name] })),
          session,
          limit,
        ),
      ),
  }
}

/** What a batch did; `keysCompleteSince` null: nothing was forgotten. */
type Progress = { erased: number; forgotten: number; keysCompleteSince: number | null }

/** Was it noted within the last second, and not by this store? The clock may have been set back in between. */
function isAnothers({ now, worked_at }: LockRow, own: number | undefined): boolean {
  return worked_at !== null && worked_at !== own && Math.abs(now - worked_at) < atWorkMs
}

/** Ascending, so that two statements that lock the same records do it in one order. */
async function idsOf(transaction: Transaction, text: string, parameters: (string | number)[]): Promise<string[]> {
  const rows = await transaction.unsafe<{ id: string }[]>(text, parameters)
  return rows.map(({ id }) => storedDigest(id)).sort()
}

/** The sum of counts that each end at the bound they are given as their last parameter. */
async function countEach(
  counts: readonly { text: string; parameters: (string | number)[] }[],
  session: Transaction,
  limit: number,
): Promise<Bounded> {
  const startedAt = performance.now()
  let count = 0
  for (const { text, parameters } of counts) {
    if (performance.now() - startedAt > countForMs) return { count, more: true }
    const rows = await session.unsafe<{ count: number }[]>(text, [...parameters, limit + 1 - count])
    count += onlyRow(rows).count
    if (count > limit) return { count: limit, more: true }
  }
  return { count, more: false }
}
