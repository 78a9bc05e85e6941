/** States a record is stored in. What each one means and what a claim gets there is decided in `@ranbook/rules`. */
export const recordStates = ['claimed', 'completed', 'failed', 'dead', 'held', 'skipped', 'ready'] as const
export type RecordState = (typeof recordStates)[number]

/** What a claim can be answered. */
export const outcomes = [
  'claimed',
  'duplicate',
  'superseded',
  'in_progress',
  'backoff',
  'waiting',
  'held',
  'dead',
  'mismatch',
] as const
export type Outcome = (typeof outcomes)[number]

/** HTTP status of each outcome: 201 run it, 200 acknowledge, anything else do not run. */
export const outcomeStatus: Readonly<Record<Outcome, number>> = {
  claimed: 201,
  duplicate: 200,
  superseded: 200,
  in_progress: 409,
  backoff: 409,
  waiting: 409,
  held: 423,
  dead: 410,
  mismatch: 422,
}

/** Why a record stands where it stands, or why a claim was granted out of turn. */
export const reasons = ['max_attempts', 'not_retryable', 'operator', 'gap_given_up', 'late', 'guard'] as const
export type Reason = (typeof reasons)[number]

/** What an expired lease means: `retry` grants again (at least once), `hold` waits for a person. */
export const leaseExpiryRules = ['retry', 'hold'] as const
export type LeaseExpiryRule = (typeof leaseExpiryRules)[number]

/** Answers to "did this ever run?" for one record, and `never` or `unknown` where there is none. */
export const verdicts = [
  'ran',
  'ran_again',
  'ran_details_erased',
  'running',
  'interrupted',
  'held',
  'failed',
  'dead',
  'ready',
  'skipped',
  'never',
  'unknown',
] as const
export type Verdict = (typeof verdicts)[number]

/** What an API key or a person may do. None implies another. */
export const actions = ['claim', 'read', 'operate', 'admin'] as const
export type Action = (typeof actions)[number]

/** What an operator may decide about a record. */
export const resolutions = ['completed', 'retry', 'dead', 'skipped'] as const
export type Resolution = (typeof resolutions)[number]
