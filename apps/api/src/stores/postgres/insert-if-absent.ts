import { firstGrant, type InsertOutcome, type NewRecord, StoreError } from '@ranbook/rules'
import { bytesArray, plainArray, textArray, timeArray } from './array-literal.ts'
import type { Runner } from './lane.ts'
import { readRecords } from './read-records.ts'
import { fingerprintKindCodes, leaseExpiryCodes } from './record-codes.ts'
import { fingerprintHex, joinedRefs, storedDigest, storedTime } from './stored-fields.ts'

/**
 * Grants where nothing stands. Answers the rows it inserted.
 *
 * $1 id, $2 claim_token, $3 class, $4 consumer, $5 key, $6 owner, $7 lease_ms, $8 on_lease_expiry, $9 fingerprint_kind,
 * $10 fingerprint, $11 payload, $12 refs (joined by U+001F), $13 source, $14 seq, $15 occurred_at (seconds since 1970):
 * arrays of one length, ids ascending.
 *
 * NOT EXISTS: a duplicate draws no number, takes no lock and so writes nothing. ON CONFLICT: whoever inserts at the same
 * time is waited for. The clock is read once and cut to the milliseconds that columns keep.
 */
export const INSERT_IF_ABSENT = `
INSERT INTO record (
  id, claim_token, fencing_token, first_claimed_at, claimed_at, lease_expires_at, sweep_at,
  seq, occurred_at, version, generation, attempt, lease_ms, state, on_lease_expiry, fingerprint_kind,
  class, consumer, key, owner, fingerprint, source, refs, payload
)
SELECT
  t.id, t.claim_token, nextval('fencing_token'), clock.at, clock.at,
  clock.at + t.lease_ms * interval '1 millisecond', clock.at + t.lease_ms * interval '1 millisecond',
  t.seq, to_timestamp(t.occurred_at), 1, 1, 1, t.lease_ms, 1, t.on_lease_expiry, t.fingerprint_kind,
  t.class, t.consumer, t.key, t.owner, t.fingerprint, t.source, string_to_array(t.refs, E'\\x1f'), t.payload
FROM (SELECT date_trunc('milliseconds', now()) AS at OFFSET 0) AS clock
CROSS JOIN unnest(
  $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::smallint[], $9::smallint[],
  $10::bytea[], $11::json[], $12::text[], $13::text[], $14::bigint[], $15::float8[]
) AS t (
  id, claim_token, class, consumer, key, owner, lease_ms, on_lease_expiry, fingerprint_kind,
  fingerprint, payload, refs, source, seq, occurred_at
)
WHERE NOT EXISTS (SELECT 1 FROM record AS r WHERE r.id = t.id)
ON CONFLICT (id) DO NOTHING
RETURNING id, fencing_token, date_part('epoch', first_claimed_at)`

type InsertedRow = readonly [id: string, fencingToken: string, firstClaimedAt: number]

/**
 * A row that was neither inserted nor found was inserted meanwhile, or forgotten: it is tried again. More rounds than
 * this are no race any more.
 */
const roundsMax = 5

/** See `RecordStore.insertIfAbsent`. */
export async function insertIfAbsent(runner: Runner, records: readonly NewRecord[]): Promise<InsertOutcome[]> {
  const outcomes: InsertOutcome[] = new Array(records.length)
  let open = records.map((record, at) => ({ record, at }))
  for (let round = 0; open.length > 0; round++) {
    if (round === roundsMax) throw new StoreError('overloaded', 'records came and went faster than they could be read')
    const inserted = await insertAbsent(runner, open)
    const standing = open.filter(({ at }) => !inserted.has(at))
    for (const [at, outcome] of inserted) outcomes[at] = outcome
    if (standing.length === 0) break

    const found = await readRecords(
      runner,
      standing.map(({ record: { request } }) => ({ digest: request.digest, claimToken: request.claimToken })),
    )
    open = []
    for (const [index, item] of standing.entries()) {
      const read = found[index]
      if (read) outcomes[item.at] = { inserted: false, ...read }
      else open.push(item)
    }
  }
  return outcomes
}

type OpenRecord = { record: NewRecord; at: number }

/** Tries to insert, of several items of one identity the first. Outcomes by their place in the call. */
async function insertAbsent(runner: Runner, items: readonly OpenRecord[]): Promise<Map<number, InsertOutcome>> {
  const firsts = new Map<string, OpenRecord>()
  for (const item of items) {
    if (!firsts.has(item.record.request.digest)) firsts.set(item.record.request.digest, item)
  }
  const sorted = [...firsts.values()].sort((a, b) => (a.record.request.digest < b.record.request.digest ? -1 : 1))
  const rows = await runner.run<InsertedRow>(INSERT_IF_ABSENT, insertParameters(sorted.map(({ record }) => record)))
  const outcomes = new Map<number, InsertOutcome>()
  for (const [id, fencingToken, firstClaimedAt] of rows) {
    const { record, at } = firsts.get(storedDigest(id)) as OpenRecord
    const now = storedTime(firstClaimedAt)
    // What the statement wrote, so that it need not travel back.
    outcomes.set(at, { inserted: true, record: firstGrant(record, Number(fencingToken), now), tokenSpent: false, now })
  }
  return outcomes
}

function insertParameters(records: readonly NewRecord[]): (string | null)[] {
  const requests = records.map(({ request }) => request)
  return [
    plainArray(requests.map(({ digest }) => digest)),
    plainArray(requests.map(({ claimToken }) => claimToken)),
    textArray(requests.map((request) => request.class)),
    textArray(requests.map(({ consumer }) => consumer)),
    textArray(requests.map(({ key }) => key)),
    textArray(requests.map(({ owner }) => owner)),
    plainArray(records.map(({ leaseMs }) => leaseMs)),
    plainArray(records.map(({ onLeaseExpiry }) => leaseExpiryCodes[onLeaseExpiry])),
    plainArray(requests.map(({ fingerprint }) => fingerprint && fingerprintKindCodes[fingerprint.kind])),
    bytesArray(requests.map(({ fingerprint }) => fingerprint && fingerprintHex(fingerprint))),
    textArray(requests.map(({ details }) => details.payload)),
    textArray(requests.map(({ details }) => joinedRefs(details.refs))),
    textArray(requests.map(({ details }) => details.source)),
    plainArray(requests.map(({ details }) => details.seq)),
    timeArray(requests.map(({ details }) => details.occurredAt)),
  ]
}
