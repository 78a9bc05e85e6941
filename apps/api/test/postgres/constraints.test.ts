import { describe, expect, test } from 'vitest'
import { changed, inserted } from '../conformance/asked-of-store.ts'
import { changeOf, failing, granting, newRecord } from '../conformance/new-record.ts'
import { migratedDatabase } from './migrated-database.ts'

const opened = migratedDatabase()

/** A live claim and a dead record. */
async function records() {
  const store = opened().postgres.records
  const claimed = await inserted(store, newRecord())
  const failed = await changed(store, failing(await inserted(store, newRecord())))
  const dead = await changed(store, changeOf(failed, { state: 'dead', cause: 'not_retryable', availableAt: null }))
  return { claimed: claimed.digest, dead: dead.digest }
}

describe('the database refuses', () => {
  test.each([
    ['a claim that ended', 'claimed', 'ended_at = now()', 'record_runs_or_ended'],
    ['a claim without a lease', 'claimed', 'lease_expires_at = NULL, sweep_at = NULL', 'record_runs_or_ended'],
    ['a dead record with a lease', 'dead', 'lease_expires_at = now()', 'record_runs_or_ended'],
    ['a dead record that did not end', 'dead', 'ended_at = NULL', 'record_runs_or_ended'],
    ['a dead record to be swept', 'dead', 'sweep_at = now()', 'record_swept_while_claimed'],
    ['a claim with a time to wait for', 'claimed', 'available_at = now()', 'record_available_when_failed'],
    ['a failed record without one', 'dead', 'state = 3, cause = NULL', 'record_available_when_failed'],
    ['a dead record without a cause', 'dead', 'cause = NULL', 'record_cause_of_state'],
    ['a claim with a cause', 'claimed', 'cause = 4', 'record_cause_of_state'],
    ['a fingerprint of no kind', 'claimed', `fingerprint = '\\x00'`, 'record_fingerprint_has_kind'],
    ['a kind of no fingerprint', 'claimed', 'fingerprint_kind = 1', 'record_fingerprint_has_kind'],
  ] as const)('%s', async (_impossible, which, assignment, constraint) => {
    const digest = (await records())[which]
    const written = opened().sql.unsafe(`UPDATE record SET ${assignment} WHERE id = '${digest}'`)
    await expect(written).rejects.toMatchObject({ code: '23514', constraint_name: constraint })
  })

  test.each(['UPDATE audit SET reason = NULL', 'DELETE FROM audit', 'TRUNCATE audit'])(
    'to change what the audit holds: %s',
    async (statement) => {
      await expect(opened().sql.unsafe(statement)).rejects.toMatchObject({ code: '42501' })
    },
  )

  test('a second archive of one attempt', async () => {
    const store = opened().postgres.records
    const failed = await changed(store, failing(await inserted(store, newRecord())))
    const again = granting(failed)
    const granted = await changed(store, again)
    const twice = { ...changeOf(granted, {}), archive: again.archive }
    await expect(store.compareAndSet([twice])).rejects.toMatchObject({ code: '23505', constraint_name: 'attempt_pkey' })
    expect((await store.read([{ digest: granted.digest, claimToken: null }]))[0]?.record).toEqual(granted)
  })
})

test('the database refuses a token two attempts of one record', async () => {
  const store = opened().postgres.records
  const first = await inserted(store, newRecord())
  const second = granting(first)
  const granted = await changed(store, second)
  const archive = second.archive && { ...second.archive, fencingToken: granted.fencingToken }
  await expect(store.compareAndSet([changeOf(granted, {}, { archive })])).rejects.toMatchObject({
    code: '23505',
    constraint_name: 'attempt_claim_token',
  })
})

test('fencing numbers come one by one, so that no session keeps lower ones for later, and stay exact in JavaScript', async () => {
  const [sequence] = await opened().sql`
    SELECT cache_size, increment_by, max_value, cycle FROM pg_sequences WHERE sequencename = 'fencing_token'`
  expect(sequence).toEqual({
    cache_size: '1',
    increment_by: '1',
    max_value: String(Number.MAX_SAFE_INTEGER),
    cycle: false,
  })
})

test('every text that identity or an index rests on is compared by its bytes', async () => {
  const columns = await opened().sql`
    SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND udt_name IN ('text', '_text') AND collation_name IS DISTINCT FROM 'C'`
  expect(columns.map(({ table_name, column_name }) => `${table_name}.${column_name}`).toSorted()).toEqual([
    'api_key.name',
    'audit.reason',
    'class_policy_history.reason',
    'replay.error',
    'replay.reason',
    'replay_push.error',
  ])
})
