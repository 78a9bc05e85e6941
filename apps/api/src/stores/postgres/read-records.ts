import type { ReadOutcome, ReadRequest } from '@ranbook/rules'
import { plainArray } from './array-literal.ts'
import type { Runner } from './lane.ts'
import { type RecordRow, recordOf } from './record-row.ts'
import { storedTime } from './stored-fields.ts'

/**
 * Whole records by id, with the store's clock, and whether a token had an earlier attempt of its record.
 *
 * $1 id, $2 claim_token or NULL: arrays of one length. Answers the place in them first; the columns of `RecordRow` last.
 *
 * A scalar subquery, because EXISTS may be planned as a hash of all attempts there are.
 */
export const READ_RECORDS = `
SELECT
  t.place::int,
  COALESCE((SELECT true FROM attempt AS a WHERE a.record_id = t.id AND a.claim_token = t.claim_token LIMIT 1), false),
  date_part('epoch', date_trunc('milliseconds', now())),
  r.version, r.class, r.consumer, r.key, r.state, r.cause, r.generation, r.attempt, r.claim_token, r.fencing_token,
  r.owner, r.lease_ms, r.on_lease_expiry, date_part('epoch', r.lease_expires_at), date_part('epoch', r.sweep_at),
  date_part('epoch', r.first_claimed_at), date_part('epoch', r.claimed_at), date_part('epoch', r.ended_at),
  date_part('epoch', r.available_at), r.fingerprint_kind, r.fingerprint, r.result::text, r.error::text,
  date_part('epoch', r.details_erased_at), r.replay::text
FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS t (id, claim_token, place)
JOIN record AS r ON r.id = t.id`

type ReadRow = readonly [place: number, tokenSpent: boolean, now: number, ...record: RecordRow]

/** See `RecordStore.read`. One statement, so all records are as of one moment. */
export async function readRecords(runner: Runner, requests: readonly ReadRequest[]): Promise<(ReadOutcome | null)[]> {
  const outcomes: (ReadOutcome | null)[] = new Array(requests.length).fill(null)
  if (requests.length === 0) return outcomes
  const rows = await runner.run<ReadRow>(READ_RECORDS, [
    plainArray(requests.map(({ digest }) => digest)),
    plainArray(requests.map(({ claimToken }) => claimToken)),
  ])
  for (const [place, tokenSpent, now, ...row] of rows) {
    const at = place - 1
    const request = requests[at] as ReadRequest
    outcomes[at] = { record: recordOf(request.digest, row), tokenSpent, now: storedTime(now) }
  }
  return outcomes
}
