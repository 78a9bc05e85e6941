import type { FullRecord } from '@ranbook/rules'
import { plainArray } from './array-literal.ts'
import { type FullRow, fullRecordOf, nowOf } from './full-row.ts'
import type { Runner } from './lane.ts'

/**
 * Whole records by id with details and duplicates, and the store's clock in every row; where none is found one row with
 * the clock alone. $1 id: an array. Columns of `FullRow`.
 */
const READ_FULL = `
SELECT
  date_part('epoch', date_trunc('milliseconds', now())), r.id,
  r.payload::text, r.result IS NOT NULL, array_to_string(r.refs, E'\\x1f'), r.source, r.seq,
  date_part('epoch', r.occurred_at), d.count, date_part('epoch', d.first_at), date_part('epoch', d.last_at),
  r.version, r.class, r.consumer, r.key, r.state, r.cause, r.generation, r.attempt, r.claim_token, r.fencing_token,
  r.owner, r.lease_ms, r.on_lease_expiry, date_part('epoch', r.lease_expires_at), date_part('epoch', r.sweep_at),
  date_part('epoch', r.first_claimed_at), date_part('epoch', r.claimed_at), date_part('epoch', r.ended_at),
  date_part('epoch', r.available_at), r.fingerprint_kind, r.fingerprint, r.result::text, r.error::text,
  date_part('epoch', r.details_erased_at), r.replay::text
FROM (SELECT 1) AS clock
LEFT JOIN record AS r ON r.id = ANY ($1::uuid[])
LEFT JOIN duplicate_tally AS d ON d.record_id = r.id`

/** See `RecordStore.readFull`. One statement, so all records and the clock are as of one moment. */
export async function readFull(
  runner: Runner,
  digests: readonly string[],
): Promise<{ rows: (FullRecord | null)[]; now: number }> {
  const rows = await runner.run<FullRow>(READ_FULL, [plainArray(digests)])
  const byDigest = new Map(
    rows.flatMap((row) => {
      const found = fullRecordOf(row)
      if (found === null) return []
      const { record, details, duplicates } = found
      return [[record.digest, { record, details, duplicates }] as const]
    }),
  )
  return { rows: digests.map((digest) => byDigest.get(digest) ?? null), now: nowOf(rows) }
}
