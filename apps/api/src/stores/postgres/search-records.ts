import { type ListedRecord, type RecordFilter, StoreError } from '@ranbook/rules'
import { type FullRow, fullRecordOf, nowOf } from './full-row.ts'
import { hasCode } from './has-code.ts'
import type { Runner } from './lane.ts'
import { type Conditions, searchConditions } from './search-conditions.ts'

/** query_canceled: the statement's time limit. */
const TIME_LIMIT = '57014'

/**
 * Records newest first without result, and an empty text for a payload, and the store's clock in every row; where none is found one row with
 * the clock alone. Ids are chosen before anything else of a row is read. Columns of `FullRow`; texts of the conditions
 * come from the code only; behind their parameters comes how many.
 */
export function searchStatement({ texts, parameters }: Conditions): string {
  return `
WITH page AS MATERIALIZED (
  SELECT r.id, r.first_claimed_at FROM record AS r
  WHERE ${texts.join(' AND ')}
  ORDER BY r.first_claimed_at DESC, r.id DESC LIMIT $${parameters.length + 1}::int
)
SELECT
  date_part('epoch', date_trunc('milliseconds', now())), r.id,
  CASE WHEN r.payload IS NOT NULL THEN '' END, r.result IS NOT NULL, array_to_string(r.refs, E'\\x1f'), r.source, r.seq,
  date_part('epoch', r.occurred_at), d.count, date_part('epoch', d.first_at), date_part('epoch', d.last_at),
  r.version, r.class, r.consumer, r.key, r.state, r.cause, r.generation, r.attempt, r.claim_token, r.fencing_token,
  r.owner, r.lease_ms, r.on_lease_expiry, date_part('epoch', r.lease_expires_at), date_part('epoch', r.sweep_at),
  date_part('epoch', r.first_claimed_at), date_part('epoch', r.claimed_at), date_part('epoch', r.ended_at),
  date_part('epoch', r.available_at), r.fingerprint_kind, r.fingerprint, NULL::text, r.error::text,
  date_part('epoch', r.details_erased_at), r.replay::text
FROM (SELECT 1) AS clock
LEFT JOIN (page JOIN record AS r ON r.id = page.id) ON true
LEFT JOIN duplicate_tally AS d ON d.record_id = r.id
ORDER BY r.first_claimed_at DESC, r.id DESC`
}

/** See `RecordStore.search`. One statement, so all records and the clock are as of one moment. */
export async function searchRecords(
  runner: Runner,
  filter: RecordFilter,
): Promise<{ rows: ListedRecord[]; now: number }> {
  const conditions = searchConditions(filter)
  const parameters = [...conditions.parameters, filter.limit]
  const rows = await runner.run<FullRow>(searchStatement(conditions), parameters).catch(refuseWide)
  return { rows: rows.flatMap(listedRecordOf), now: nowOf(rows) }
}

function refuseWide(error: unknown): never {
  if (!(error instanceof StoreError) || !hasCode(error.cause, TIME_LIMIT)) throw error
  const advice = 'The search took too long and was given up; narrow it by class or by time.'
  throw new StoreError(error.code, error.message, { cause: error.cause, advice })
}

function listedRecordOf(row: FullRow): ListedRecord[] {
  const found = fullRecordOf(row)
  if (found === null) return []
  const { result: _unread, ...record } = found.record
  const { payload, ...details } = found.details
  return [{ record, hasResult: found.hasResult, hasPayload: payload !== null, details, duplicates: found.duplicates }]
}
