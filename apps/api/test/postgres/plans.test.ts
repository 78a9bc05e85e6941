import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADD_DUPLICATES } from '../../src/stores/postgres/add-duplicates.ts'
import { CHANGE_RECORDS, CHANGE_RECORDS_WITH_TRACES } from '../../src/stores/postgres/change-statements.ts'
import { COMPLETE_CLAIMED } from '../../src/stores/postgres/complete-claimed.ts'
import { FIND_EXPIRED } from '../../src/stores/postgres/find-expired.ts'
import { INSERT_IF_ABSENT } from '../../src/stores/postgres/insert-if-absent.ts'
import { KEEP_LATE_COMPLETIONS } from '../../src/stores/postgres/keep-late-completions.ts'
import { READ_RECORDS } from '../../src/stores/postgres/read-records.ts'
import { COUNT_WHOLE, FIND_DUE_WHOLE } from '../../src/stores/postgres/retention-statements.ts'
import { hotSettings } from '../../src/stores/postgres/session-settings.ts'
import { INSERT_CELLS, READ_CELLS, REMOVE_OVER, SWAP_CELLS } from '../../src/stores/postgres/window-cells.ts'
import { newRecord } from '../conformance/new-record.ts'
import { type MigratedDatabase, openMigrated } from './migrated-database.ts'

/** Each hot statement, and every way to a table that its plan may have. */
const hotStatements = {
  'insert-if-absent': { text: INSERT_IF_ABSENT, ways: ['Index Only Scan using record_pkey on record'] },
  read: {
    text: READ_RECORDS,
    ways: ['Index Scan using record_pkey on record', 'Index Only Scan using attempt_claim_token on attempt'],
  },
  'compare-and-set': { text: CHANGE_RECORDS, ways: ['Index Scan using record_pkey on record'] },
  'compare-and-set with traces': {
    text: CHANGE_RECORDS_WITH_TRACES,
    ways: ['Index Scan using record_pkey on record'],
  },
  'complete-claimed': { text: COMPLETE_CLAIMED, ways: ['Index Scan using record_pkey on record'] },
  'add-duplicates': { text: ADD_DUPLICATES, ways: ['Index Only Scan using record_pkey on record'] },
  'keep-late-completions': {
    text: KEEP_LATE_COMPLETIONS,
    ways: ['Index Scan using attempt_claim_token on attempt', 'Index Scan using record_pkey on record'],
  },
  'insert cells': { text: INSERT_CELLS, ways: [] },
  'read cells': { text: READ_CELLS, ways: ['Index Scan using window_cell_pkey on window_cell'] },
  'swap cells': { text: SWAP_CELLS, ways: ['Index Scan using window_cell_pkey on window_cell'] },
  'remove cells that are over': {
    text: REMOVE_OVER,
    ways: ['Index Scan using window_cell_expiry on window_cell', 'Index Scan using window_cell_pkey on window_cell'],
  },
  'find-due': { text: FIND_DUE_WHOLE, ways: ['Index Scan using record_retention on record'] },
  'count-settled': { text: COUNT_WHOLE, ways: ['Index Scan using record_retention on record'] },
  'find-expired': { text: FIND_EXPIRED, ways: ['Index Scan using record_sweep on record'] },
} as const
type HotStatement = keyof typeof hotStatements
const names = Object.keys(hotStatements) as HotStatement[]

/** How a statement reaches its tables, on a session as claims and settles have it, that has planned nothing before. */
async function waysOf({ target }: MigratedDatabase, statement: string): Promise<string[]> {
  const connection = { ...hotSettings, application_name: 'plans' }
  const sql = postgres({ ...(target as object), max: 1, connection, onnotice: () => undefined })
  try {
    await sql.unsafe(`PREPARE hot AS ${statement}`)
    const count = Math.max(...[...statement.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
    const values = Array.from({ length: count }, () => 'NULL').join(', ')
    const lines = await sql.unsafe(`EXPLAIN (COSTS OFF) EXECUTE hot (${values})`).values()
    return lines
      .map(([line]) => String(line))
      .filter((line) => /\bScan\b/.test(line) && !/(?:Function|Subquery|CTE) Scan/.test(line))
      .map((line) =>
        line
          .replace(/^[ >-]*/, '')
          .replace(/ [a-z]$/, '')
          .trim(),
      )
  } finally {
    await sql.end()
  }
}

describe('on a table that was empty and never analysed when the statement was prepared', () => {
  let database: MigratedDatabase
  beforeAll(async () => {
    database = await openMigrated()
    await database.sql.unsafe('ALTER TABLE record SET (autovacuum_enabled = off)')
  })
  afterAll(() => database.close())

  test.each(names)('%s knows no way but by its index, while empty', async (name) => {
    const { text, ways } = hotStatements[name]
    expect(new Set(await waysOf(database, text))).toEqual(new Set(ways))
  })

  describe('with 30 000 live claims', () => {
    beforeAll(async () => {
      const records = Array.from({ length: 30_000 }, () => newRecord())
      for (let from = 0; from < records.length; from += 1000) {
        await database.postgres.records.insertIfAbsent(records.slice(from, from + 1000))
      }
    })

    test.each(names)('%s knows no way but by its index, among live claims', async (name) => {
      const { text, ways } = hotStatements[name]
      expect(new Set(await waysOf(database, text))).toEqual(new Set(ways))
    })
  })
})
