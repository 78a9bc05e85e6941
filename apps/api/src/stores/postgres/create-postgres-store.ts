import type { RecordStore } from '@ranbook/rules'
import { addDuplicates } from './add-duplicates.ts'
import { compareAndSet } from './compare-and-set.ts'
import { completeClaimed } from './complete-claimed.ts'
import { findExpired } from './find-expired.ts'
import { insertIfAbsent } from './insert-if-absent.ts'
import { keepLateCompletions } from './keep-late-completions.ts'
import type { Runner } from './lane.ts'
import { readFull } from './read-full.ts'
import { readHistory } from './read-history.ts'
import { readRecords } from './read-records.ts'
import { searchRecords } from './search-records.ts'

export type PostgresStoreDeps = { gathered: Runner; beside: Runner; reads: Runner }

/**
 * The ledger in Postgres. Each write is one autocommit statement, sorted by id, answered after its commit; each read one
 * statement, so as of one moment.
 *
 * @param gathered connections on which nothing but the ways by primary key can be planned.
 * @param beside the same, for what is not gathered and must not stand in a row with what is.
 * @param reads connections for what people read, with a time limit of their own.
 */
export function createPostgresStore({ gathered, beside, reads }: PostgresStoreDeps): RecordStore {
  return {
    insertIfAbsent: (records) => insertIfAbsent(gathered, records),
    read: (requests) => readRecords(gathered, requests),
    compareAndSet: (changes) => compareAndSet(gathered, changes),
    completeClaimed: (requests) => completeClaimed(gathered, requests),
    findExpired: (limit) => findExpired(beside, limit),
    search: (filter) => searchRecords(reads, filter),
    readFull: (digests) => readFull(reads, digests),
    readHistory: (digest) => readHistory(reads, digest),
    addDuplicates: (tallies) => addDuplicates(beside, tallies),
    keepLateCompletions: (late) => keepLateCompletions(beside, late),
  }
}
