import { describe, expect, test } from 'vitest'
import { ADD_DUPLICATES } from '../../src/stores/postgres/add-duplicates.ts'
import { CHANGE_RECORDS, CHANGE_RECORDS_WITH_TRACES } from '../../src/stores/postgres/change-statements.ts'
import { COMPLETE_CLAIMED } from '../../src/stores/postgres/complete-claimed.ts'
import { INSERT_IF_ABSENT } from '../../src/stores/postgres/insert-if-absent.ts'
import { KEEP_LATE_COMPLETIONS } from '../../src/stores/postgres/keep-late-completions.ts'
import { READ_RECORDS } from '../../src/stores/postgres/read-records.ts'
import { migratedDatabase } from './migrated-database.ts'

const opened = migratedDatabase()

const updates = { CHANGE_RECORDS, COMPLETE_CLAIMED }
const hot = {
  ...updates,
  CHANGE_RECORDS_WITH_TRACES,
  INSERT_IF_ABSENT,
  READ_RECORDS,
  ADD_DUPLICATES,
  KEEP_LATE_COMPLETIONS,
}

describe('forms that a distributed Postgres takes', () => {
  test.each(Object.entries(updates))('%s calls no volatile function', async (_name, statement) => {
    expect(await volatileIn(statement)).toEqual([])
  })

  test('CHANGE_RECORDS_WITH_TRACES draws no number, and writes the very UPDATE that CHANGE_RECORDS is', async () => {
    expect(await volatileIn(CHANGE_RECORDS_WITH_TRACES)).toEqual([])
    expect(CHANGE_RECORDS_WITH_TRACES).toContain(CHANGE_RECORDS)
  })

  test.each(Object.entries(updates))(
    '%s computes nothing from the clock and a parameter together',
    (_name, statement) => {
      for (const assignment of statement.split(/[,\n]/)) {
        expect(assignment.includes('now()') && /\bt\./.test(assignment), assignment).toBe(false)
      }
    },
  )

  test.each(Object.entries(hot))('%s reaches records by their id', (_name, statement) => {
    expect(statement).toMatch(/r\.id = (?:t\.id|t\.record_id)/)
  })

  test.each(Object.entries(hot))(
    '%s asks for no state by a literal, which would let a partial index in',
    (_name, statement) => {
      expect(statement).not.toMatch(/\bstate\s*(?:=|<>|IN)\s*\(?\d/)
    },
  )

  test('only the insert draws fencing numbers, where no row stood', () => {
    const drawing = Object.entries(hot).filter(([, statement]) => statement.includes('nextval'))
    expect(drawing.map(([name]) => name)).toEqual(['INSERT_IF_ABSENT'])
  })
})

/** Names of the functions a statement calls that Postgres counts as volatile. */
async function volatileIn(statement: string): Promise<string[]> {
  const called = [...new Set([...statement.matchAll(/\b([a-z_]+)\(/g)].map(([, name]) => name ?? ''))]
  expect(called).toContain('unnest')
  const rows = await opened().sql<{ proname: string }[]>`
    SELECT DISTINCT proname FROM pg_proc WHERE proname = ANY (${called}) AND provolatile = 'v' ORDER BY proname`
  return rows.map(({ proname }) => proname)
}
