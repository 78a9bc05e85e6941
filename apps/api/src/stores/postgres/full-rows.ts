import type { FullRecord } from '@ranbook/rules'
import type { Runner } from './lane.ts'
import { type RecordRow, recordOf } from './record-row.ts'
import { splitRefs, storedDigest, storedTime } from './stored-fields.ts'

/** A WHERE clause over `record AS r`; texts come from the code only, what a caller gave stands in `parameters`. */
export type Conditions = { texts: readonly string[]; parameters: readonly (string | number | null)[] }

/**
 * Records with details and duplicates, newest first, and the store's clock in every row; where none is found one row
 * with the clock alone. Ids are chosen before anything wide is read. Columns: clock, id, details, tally, `RecordRow`.
 */
function fullRowsStatement({ texts }: Conditions, limitPlaceholder: string): string {
  return `
WITH page AS MATERIALIZED (
  SELECT r.id, r.first_claimed_at FROM record AS r
  WHERE ${texts.join(' AND ')}
  ORDER BY r.first_claimed_at DESC, r.id DESC LIMIT ${limitPlaceholder}::int
)
SELECT
  date_part('epoch', date_trunc('milliseconds', now())), r.id,
  r.payload::text, array_to_string(r.refs, E'\\x1f'), r.source, r.seq, date_part('epoch', r.occurred_at),
  d.count, date_part('epoch', d.first_at), date_part('epoch', d.last_at),
  r.version, r.class, r.consumer, r.key, r.state, r.cause, r.generation, r.attempt, r.claim_token, r.fencing_token,
  r.owner, r.lease_ms, r.on_lease_expiry, date_part('epoch', r.lease_expires_at), date_part('epoch', r.sweep_at),
  date_part('epoch', r.first_claimed_at), date_part('epoch', r.claimed_at), date_part('epoch', r.ended_at),
  date_part('epoch', r.available_at), r.fingerprint_kind, r.fingerprint, r.result::text, r.error::text
FROM (SELECT 1) AS clock
LEFT JOIN (page JOIN record AS r ON r.id = page.id) ON true
LEFT JOIN duplicate_tally AS d ON d.record_id = r.id
ORDER BY r.first_claimed_at DESC, r.id DESC`
}

type FullRow = readonly [
  now: number,
  id: string | null,
  payload: string | null,
  refs: string | null,
  source: string | null,
  seq: string | null,
  occurredAt: number | null,
  duplicates: string | null,
  firstDuplicateAt: number | null,
  lastDuplicateAt: number | null,
  ...record: RecordRow,
]

/** The newest records for which the conditions hold, and the store's clock in ms, all as of one moment. */
export async function readFullRows(
  runner: Runner,
  conditions: Conditions,
  limit: number,
): Promise<{ rows: FullRecord[]; now: number }> {
  const statement = fullRowsStatement(conditions, `$${conditions.parameters.length + 1}`)
  const rows = await runner.run<FullRow>(statement, [...conditions.parameters, limit])
  return { rows: rows.flatMap(fullRecordOf), now: storedTime(rows[0]?.[0] ?? Number.NaN) }
}

function fullRecordOf([
  ,
  id,
  payload,
  refs,
  source,
  seq,
  occurredAt,
  count,
  first,
  last,
  ...row
]: FullRow): FullRecord[] {
  if (id === null) return []
  const details = { payload, refs: splitRefs(refs), source, seq, occurredAt: storedTime(occurredAt) }
  const duplicates =
    count === null || first === null || last === null
      ? null
      : { count: Number(count), firstAt: storedTime(first), lastAt: storedTime(last) }
  return [{ record: recordOf(storedDigest(id), row), details, duplicates }]
}
