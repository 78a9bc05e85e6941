import type { RecordStore } from '@ranbook/rules'
import { addDuplicates } from './add-duplicates.ts'
import { plainArray } from './array-literal.ts'
import { compareAndSet } from './compare-and-set.ts'
import { completeClaimed } from './complete-claimed.ts'
import { findExpired } from './find-expired.ts'
import { readFullRows } from './full-rows.ts'
import { insertIfAbsent } from './insert-if-absent.ts'
import { keepLateCompletion } from './keep-late-completion.ts'
import type { Runner } from './lane.ts'
import { readHistory } from './read-history.ts'
import { readRecords } from './read-records.ts'
import { searchConditions } from './search-conditions.ts'

/**
 * The ledger in Postgres. Each write is one autocommit statement, sorted by id, answered after its commit; each read one
 * statement, so as of one moment.
 *
 * @param hot connections on which nothing but the ways by primary key can be planned.
 * @param cold connections for what people read, with a time limit of their own.
 */
export function createPostgresStore({ hot, cold }: { hot: Runner; cold: Runner }): RecordStore {
  return {
    insertIfAbsent: (records) => insertIfAbsent(hot, records),
    read: (requests) => readRecords(hot, requests),
    compareAndSet: (changes) => compareAndSet(hot, changes),
    completeClaimed: (requests) => completeClaimed(hot, requests),
    findExpired: (limit) => findExpired(hot, limit),
    search: (filter) => readFullRows(cold, searchConditions(filter), filter.limit),

    async readFull(digests) {
      const conditions = { texts: ['r.id = ANY ($1::uuid[])'], parameters: [plainArray(digests)] }
      const { rows, now } = await readFullRows(cold, conditions, digests.length)
      const byDigest = new Map(rows.map((row) => [row.record.digest, row]))
      return { rows: digests.map((digest) => byDigest.get(digest) ?? null), now }
    },

    readHistory: (digest) => readHistory(cold, digest),
    addDuplicates: (tallies) => addDuplicates(hot, tallies),
    keepLateCompletion: (late) => keepLateCompletion(hot, late),
  }
}
