import { expect, test, vi } from 'vitest'
import * as statement from '../../src/stores/postgres/retention-statements.ts'
import { dayMs, digestOf, retentionApp } from './retention-app.ts'

const app = await retentionApp()
const { put, take, settle, age, completed, fill, run } = app
const lookup = async (q: string): Promise<{ verdict: string; sentence: string }> =>
  JSON.parse((await app.request('GET', `/v1/lookup?q=${q}`)).text)

test('an owner that repeats its complete after the result was erased gets the first answer, less the details', async () => {
  await put('repeats', { details_retention_ms: dayMs })
  const record = await completed('repeats', 'r1', 2)
  await run()
  for (const body of [{ result: { ok: true } }, { result: { ok: false } }, {}]) {
    const again = await settle(record, 'complete', body)
    expect(again).toMatchObject({ state: 'completed', has_result: false, result: null, error: null })
    expect(again.details_erased_at).toEqual(expect.any(String))
  }
  expect(await settle(record, 'release')).toMatchObject({ code: 'already_settled' })
})

test('what erasing takes away raises no doubt: an attempt that failed is not one that was never heard of', async () => {
  await put('doubts', { details_retention_ms: dayMs, backoff: { initial_ms: 0, factor: 1, max_ms: 0 } })
  const first = await take('doubts', 'd1')
  await settle(first, 'fail', { error: { message: 'secret' } })
  await app.request('POST', `/v1/records/${first.id}/resolve`, { body: { decision: 'retry', reason: 'again' } })
  await settle(await take('doubts', 'd1'), 'complete')
  await age(first.id, 2)
  expect((await lookup('d1')).sentence).not.toContain('without a word')
  await run()
  const after = await lookup('d1')
  expect(after).toMatchObject({ verdict: 'ran_details_erased' })
  expect(after.sentence).not.toContain('without a word')
  expect(after.sentence).toMatch(/ran once.*its details were erased at/)
  expect((await app.request('GET', `/v1/records/${first.id}`)).text).not.toContain('secret')
})

test('a record that is settled anew has details again, which are erased in their turn', async () => {
  await put('anew', { details_retention_ms: dayMs })
  const record = await take('anew', 'a1')
  await settle(record, 'fail', { error: { message: 'no' }, retryable: false })
  await age(record.id, 2)
  await run()
  await app.request('POST', `/v1/records/${record.id}/resolve`, {
    body: { decision: 'completed', reason: 'it ran', result: { by: 'hand' } },
  })
  expect(await app.stored(record.id)).toMatchObject({ details_erased_at: null, result: { by: 'hand' } })
  await run()
  expect(await app.stored(record.id)).toMatchObject({ details_erased_at: null })
  await age(record.id, 2)
  await run()
  expect(await app.stored(record.id)).toMatchObject({ details_erased_at: expect.any(Date), result: null })
})

const lateRows = (id: string) => app.sql`SELECT result FROM late_completion WHERE record_id = ${digestOf(id)}`

test.each([
  { what: 'erased', change: statement.ERASE_DETAILS, traces: statement.ERASE_TRACES, kept: [{ result: null }] },
  { what: 'forgotten', change: statement.FORGET_KEYS, traces: statement.FORGET_TRACES, kept: [] },
])('a late result that arrives while its record is $what leaves nothing behind that is not', async (row) => {
  const record = await completed('late', row.what, 2)
  const late = { digest: digestOf(record.id), claimToken: record.claim_token, result: '"secret"' }
  let keeping: Promise<void> | undefined
  await app.sql.begin(async (transaction) => {
    const ids = JSON.stringify([digestOf(record.id)])
    await transaction.unsafe(row.change, [ids, Date.now() - dayMs])
    keeping = app.deps.ledger.store.keepLateCompletions([late])
    await vi.waitUntil(async () => {
      const [waiting] = await app.sql`
        SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO late_completion%'
          AND datname = current_database()`
      return waiting !== undefined
    })
    await transaction.unsafe(row.traces, [ids])
  })
  await keeping
  expect(await lateRows(record.id)).toEqual(row.kept)
})

test.each([
  { session: 'as the pruner has it', settings: 'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off' },
  { session: 'behind a pooler', settings: '' },
])(
  'what is due is read in order from the index, without sorting all that is due: in a session $session',
  async (row) => {
    await put('planned', { key_retention_ms: dayMs })
    await take('planned', 'p1')
    await fill('planned', 20_000)
    await app.sql`ANALYZE record`
    await app.sql.begin(async (transaction) => {
      await transaction.unsafe(row.settings)
      const planOf = async (text: string): Promise<string> => {
        const lines = await transaction.unsafe(`EXPLAIN (COSTS OFF) ${text}`, ['planned', Date.now() - dayMs, 2000])
        return lines.map((line) => line['QUERY PLAN']).join('\n')
      }
      const [whole, erased] = [await planOf(statement.FIND_DUE_WHOLE), await planOf(statement.FIND_DUE_ERASED)]
      expect(whole).toContain('Index Scan using record_retention')
      expect(whole).not.toContain('Sort')
      for (const plan of [whole, erased]) {
        expect(plan).toMatch(/Index Cond: \(.*details_erased_at IS NOT NULL\) = .*ended_at <=/)
      }
    })
  },
)
