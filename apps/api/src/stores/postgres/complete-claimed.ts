import { type CompleteRequest, completedFields, type LedgerRecord } from '@ranbook/rules'
import { distinctRounds, type Placed } from '../distinct-rounds.ts'
import { plainArray, textArray } from './array-literal.ts'
import type { Runner } from './lane.ts'
import { stateCodes } from './record-codes.ts'
import { leaseExpiryOf } from './record-row.ts'
import { storedDigest, storedFingerprint, storedReplay, storedTime } from './stored-fields.ts'

/**
 * Completes where the token is current, the state as expected and the record that consumer's.
 *
 * $1 id, $2 claim_token, $3 the state that has to stand, $4 the state to write, $5 consumer or NULL for any, $6 result:
 * arrays of one length, ids ascending, no id twice.
 *
 * The state comes as a column of parameters, never as a literal, so that no partial index can be taken for a way to the
 * rows: the primary key is the only one.
 */
export const COMPLETE_CLAIMED = `
UPDATE record AS r
SET version = r.version + 1, state = t.next_state, cause = NULL, lease_expires_at = NULL, sweep_at = NULL,
  ended_at = date_trunc('milliseconds', now()), available_at = NULL, result = t.result, error = NULL
FROM unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::smallint[], $5::text[], $6::json[])
  AS t (id, claim_token, expected_state, next_state, consumer, result)
WHERE r.id = t.id AND r.claim_token = t.claim_token AND r.state = t.expected_state
  AND (t.consumer IS NULL OR r.consumer = t.consumer)
RETURNING r.id, r.version, r.class, r.consumer, r.key, r.generation, r.attempt, r.fencing_token, r.owner, r.lease_ms,
  r.on_lease_expiry, date_part('epoch', r.first_claimed_at), date_part('epoch', r.claimed_at),
  date_part('epoch', r.ended_at), r.fingerprint_kind, r.fingerprint, r.replay::text`

type CompletedRow = readonly [
  id: string,
  version: number,
  className: string,
  consumer: string,
  key: string,
  generation: number,
  attempt: number,
  fencingToken: string,
  owner: string | null,
  leaseMs: number,
  onLeaseExpiry: number,
  firstClaimedAt: number,
  claimedAt: number,
  endedAt: number,
  fingerprintKind: number | null,
  fingerprint: string | null,
  replay: string | null,
]

type Completed = { record: LedgerRecord; now: number }

/** See `RecordStore.completeClaimed`. */
export async function completeClaimed(
  runner: Runner,
  requests: readonly CompleteRequest[],
): Promise<(Completed | null)[]> {
  const outcomes: (Completed | null)[] = new Array(requests.length).fill(null)
  for (const round of distinctRounds(requests, ({ claimToken, consumer }) => `${claimToken} ${consumer ?? ''}`)) {
    const rows = await runner.run<CompletedRow>(COMPLETE_CLAIMED, completeParameters(round))
    const places = new Map(round.map((placed) => [placed.item.digest, placed]))
    for (const row of rows) {
      const { item, at } = places.get(storedDigest(row[0])) as Placed<CompleteRequest>
      const now = storedTime(row[13])
      outcomes[at] = { record: completedRecord(item, row, now), now }
    }
  }
  return outcomes
}

function completeParameters(round: readonly Placed<CompleteRequest>[]): (string | null)[] {
  return [
    plainArray(round.map(({ item }) => item.digest)),
    plainArray(round.map(({ item }) => item.claimToken)),
    plainArray(round.map(() => stateCodes.claimed)),
    plainArray(round.map(() => stateCodes.completed)),
    textArray(round.map(({ item }) => item.consumer)),
    textArray(round.map(({ item }) => item.result)),
  ]
}

/** What the statement wrote; only what the request does not know travels back. */
function completedRecord(
  { digest, claimToken, result }: CompleteRequest,
  row: CompletedRow,
  now: number,
): LedgerRecord {
  return {
    digest,
    version: row[1],
    class: row[2],
    consumer: row[3],
    key: row[4],
    generation: row[5],
    attempt: row[6],
    claimToken,
    fencingToken: Number(row[7]),
    owner: row[8],
    leaseMs: row[9],
    onLeaseExpiry: leaseExpiryOf(row[10]),
    firstClaimedAt: storedTime(row[11]),
    claimedAt: storedTime(row[12]),
    fingerprint: storedFingerprint(row[14], row[15]),
    window: null,
    replay: storedReplay(row[16]),
    ...completedFields(result, now),
  }
}
