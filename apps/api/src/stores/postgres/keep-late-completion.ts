import type { LateCompletion } from '@ranbook/rules'
import type { Runner } from './lane.ts'

/** Keeps a result that came too late, the first of each record and token. $1 record_id, $2 claim_token, $3 result. */
export const KEEP_LATE_COMPLETION = `
INSERT INTO late_completion (record_id, claim_token, at, result)
SELECT r.id, $2::uuid, date_trunc('milliseconds', now()), $3::text::json
FROM record AS r WHERE r.id = $1::uuid
ON CONFLICT (record_id, claim_token) DO NOTHING`

/** See `RecordStore.keepLateCompletion`. */
export async function keepLateCompletion(runner: Runner, late: Omit<LateCompletion, 'at'>): Promise<void> {
  await runner.run(KEEP_LATE_COMPLETION, [late.digest, late.claimToken, late.result])
}
