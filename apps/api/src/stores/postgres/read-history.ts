import { type ArchivedAttempt, type LateCompletion, type RecordHistory, releasedAttemptsShown } from '@ranbook/rules'
import type { Runner } from './lane.ts'
import { attemptEndCodes, wordsOf } from './record-codes.ts'
import { storedTime } from './stored-fields.ts'

/**
 * Displaced attempts of a record, oldest first. $1 record_id, $2 the ending of which only the newest are shown, $3 how
 * many of them. Times in seconds since 1970.
 */
const READ_ATTEMPTS = `
SELECT fencing_token, generation, attempt, claim_token, owner, date_part('epoch', claimed_at),
  date_part('epoch', lease_expires_at), date_part('epoch', ended_at), ending, error::text, result::text
FROM attempt
WHERE record_id = $1::uuid AND (ending <> $2::smallint OR fencing_token >= COALESCE((
  SELECT fencing_token FROM attempt WHERE record_id = $1::uuid AND ending = $2::smallint
  ORDER BY fencing_token DESC OFFSET $3::int - 1 LIMIT 1
), 0))
ORDER BY fencing_token`

/** Late results of a record, oldest first. $1 record_id. Times in seconds since 1970. */
const READ_LATE_COMPLETIONS = `
SELECT claim_token, result::text, date_part('epoch', at)
FROM late_completion WHERE record_id = $1::uuid ORDER BY at, claim_token`

type AttemptRow = readonly [
  fencingToken: string,
  generation: number,
  attempt: number,
  claimToken: string,
  owner: string | null,
  claimedAt: number,
  leaseExpiresAt: number | null,
  endedAt: number | null,
  ending: number,
  error: string | null,
  result: string | null,
]

const endOf = wordsOf(attemptEndCodes)

/** See `RecordStore.readHistory`. */
export async function readHistory(runner: Runner, digest: string): Promise<RecordHistory> {
  const attempts = await runner.run<AttemptRow>(READ_ATTEMPTS, [
    digest,
    attemptEndCodes.released,
    releasedAttemptsShown,
  ])
  const late = await runner.run<readonly [string, string | null, number]>(READ_LATE_COMPLETIONS, [digest])
  return {
    attempts: attempts.map((row) => archivedAttempt(digest, row)),
    lateCompletions: late.map(
      ([claimToken, result, at]): LateCompletion => ({ digest, claimToken, result, at: storedTime(at) }),
    ),
  }
}

function archivedAttempt(digest: string, row: AttemptRow): ArchivedAttempt {
  return {
    digest,
    fencingToken: Number(row[0]),
    generation: row[1],
    attempt: row[2],
    claimToken: row[3],
    owner: row[4],
    claimedAt: storedTime(row[5]),
    leaseExpiresAt: storedTime(row[6]),
    endedAt: storedTime(row[7]),
    end: endOf(row[8]),
    error: row[9],
    result: row[10],
  }
}
