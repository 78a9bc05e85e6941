import { type RecordFilter, unfiltered } from '@ranbook/rules'
import { expect, test } from 'vitest'
import { searchConditions } from '../../src/stores/postgres/search-conditions.ts'
import { searchRecords, searchStatement } from '../../src/stores/postgres/search-records.ts'
import { coldSettings } from '../../src/stores/postgres/session-settings.ts'
import { newRecord } from '../conformance/new-record.ts'
import { lanesOf } from './lanes-of.ts'
import { migratedDatabase } from './migrated-database.ts'

const opened = migratedDatabase()

const everything: RecordFilter = {
  ...unfiltered,
  limit: 51,
}

test('a search that is given up for its time says how to ask for less', async () => {
  const { sql, target } = opened()
  const lanes = lanesOf(target, { settings: { ...coldSettings, statement_timeout: 100 }, named: false })
  const holder = await sql.reserve()
  await holder`BEGIN`
  await holder`LOCK TABLE record IN ACCESS EXCLUSIVE MODE`
  await expect(searchRecords(lanes, everything)).rejects.toMatchObject({
    name: 'StoreError',
    code: 'overloaded',
    advice: expect.stringMatching(/^The search .+ by class or by time\.$/),
  })
  await holder`COMMIT`
  holder.release()
  expect((await searchRecords(lanes, everything)).rows).toEqual([])
  await lanes.close()
})

test('pages of one class are found by its own index, however rare it is', async () => {
  const { sql, postgres } = opened()
  const records = Array.from({ length: 20_000 }, (_, at) => newRecord({ class: at % 5000 === 0 ? 'rare' : 'common' }))
  for (let from = 0; from < records.length; from += 1000) {
    await postgres.records.insertIfAbsent(records.slice(from, from + 1000))
  }
  await sql`ANALYZE record`
  const conditions = searchConditions({ ...everything, class: 'rare' })
  const lines = await sql
    .unsafe(`EXPLAIN (COSTS OFF) ${searchStatement(conditions)}`, [...conditions.parameters, everything.limit])
    .values()
  const plan = lines.flat().join('\n')
  expect(plan).toContain('record_class_page')
  expect(plan).not.toContain('Seq Scan on record')
  expect((await postgres.records.search({ ...everything, class: 'rare' })).rows).toHaveLength(4)
})
