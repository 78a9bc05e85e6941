import type { LateCompletion } from '@ranbook/rules'
import { plainArray, textArray } from './array-literal.ts'
import type { Runner } from './lane.ts'

/**
 * Keeps results that came too late, the first of each record and token; of records that still stand, and of one whose
 * details were erased only that they came. An attempt that completed in time and says so again, after a replay, tells
 * nothing new. Attempts: 1 completed, see `record-codes.ts`.
 *
 * $1 record_id, $2 claim_token, $3 result: arrays of one length, ids ascending, no record and token twice.
 *
 * FOR SHARE: retention, which erases and forgets what is kept about a record, comes wholly before or wholly after.
 */
export const KEEP_LATE_COMPLETIONS = `
INSERT INTO late_completion (record_id, claim_token, at, result)
SELECT r.id, t.claim_token, date_trunc('milliseconds', now()),
  CASE WHEN r.details_erased_at IS NULL THEN t.result END
FROM unnest($1::uuid[], $2::uuid[], $3::json[]) AS t (id, claim_token, result)
JOIN record AS r ON r.id = t.id
WHERE (
  SELECT a.ending FROM attempt AS a WHERE a.record_id = t.id AND a.claim_token = t.claim_token LIMIT 1
) IS DISTINCT FROM 1
FOR SHARE OF r
ON CONFLICT (record_id, claim_token) DO NOTHING`

/** See `RecordStore.keepLateCompletions`. */
export async function keepLateCompletions(runner: Runner, late: readonly Omit<LateCompletion, 'at'>[]): Promise<void> {
  if (late.length === 0) return
  const firsts = new Map<string, Omit<LateCompletion, 'at'>>()
  for (const item of late) {
    const place = `${item.digest} ${item.claimToken}`
    if (!firsts.has(place)) firsts.set(place, item)
  }
  // In one order, so that no two calls wait for each other.
  const sorted = [...firsts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item)
  await runner.run(KEEP_LATE_COMPLETIONS, [
    plainArray(sorted.map(({ digest }) => digest)),
    plainArray(sorted.map(({ claimToken }) => claimToken)),
    textArray(sorted.map(({ result }) => result)),
  ])
}
