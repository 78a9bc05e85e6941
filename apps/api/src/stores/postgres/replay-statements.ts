// Statements of replays. Times are milliseconds since 1970 on the way out; see `replay-schema.ts` for the columns.

const columns = `
id::text AS id, state, reason, delivery, idempotency, created_by, approved_by, needs_approval, error, more,
selection::text AS selection, scope::text AS scope, count::float8 AS count, may_run_again::float8 AS may_run_again,
all_met, pushed::float8 AS pushed, push_failed::float8 AS push_failed,
place::float8 AS place, put_back_place::float8 AS put_back_place, armed::float8 AS armed, left_out::float8 AS left_out,
put_back::float8 AS put_back, floor(extract(epoch FROM created_at) * 1000)::float8 AS created_at,
floor(extract(epoch FROM ended_at) * 1000)::float8 AS ended_at, after_id::text AS after_id,
floor(extract(epoch FROM after_time) * 1000)::float8 AS after_time`

/**
 * $1 id, $2 state, $3 reason, $4 delivery, $5 idempotency, $6 created_by, $7 needs_approval, $8 selection, $9 scope,
 * $10 count, $11 more, $12 may_run_again. No row where one of this id stands.
 */
export const CREATE_REPLAY: string = `
INSERT INTO replay (id, created_at, place, put_back_place, armed, left_out, put_back, state, reason, delivery, idempotency,
  created_by, needs_approval, selection, scope, count, more, may_run_again)
VALUES ($1::uuid, date_trunc('milliseconds', now()), 0, 0, 0, 0, 0, $2, $3, $4, $5, $6, $7::text::boolean, $8::text::json,
  $9::text::json, $10, $11::text::boolean, $12)
ON CONFLICT (id) DO NOTHING
RETURNING ${columns}`

/** $1 id. */
export const READ_REPLAY: string = `SELECT ${columns} FROM replay WHERE id = $1::uuid`

/** The same under lock, so that of two who decide about it the second sees what the first did. */
export const LOCK_REPLAY: string = `${READ_REPLAY} FOR UPDATE`

/** $1 state or NULL, $2 and $3 created_at and id of the one before, or NULL, $4 how many. */
export const LIST_REPLAYS: string = `
SELECT ${columns} FROM replay
WHERE ($1::text IS NULL OR state = $1)
  AND ($2::float8 IS NULL OR (replay.created_at, replay.id) < (to_timestamp($2::float8 / 1000), $3::uuid))
ORDER BY replay.created_at DESC, replay.id DESC LIMIT $4::int`

/** $1 id, $2 place, $3 how many. */
export const READ_ITEMS = `
SELECT place::float8 AS place, record_id, outcome, floor(extract(epoch FROM at) * 1000)::float8 AS at
FROM replay_item WHERE replay_id = $1::uuid AND place > $2::bigint ORDER BY replay_item.place LIMIT $3::int`

/** $1 record id as it is shown, $2 how many. The newest, the newest of them first. */
export const READ_ITEMS_OF_RECORD = `
SELECT replay_id::text AS replay_id, place::float8 AS place, record_id, outcome,
  floor(extract(epoch FROM at) * 1000)::float8 AS at
FROM replay_item WHERE record_id = $1 ORDER BY replay_item.at DESC LIMIT $2::int`

/** $1 [id, …]. */
export const READ_REPLAYS: string = `
SELECT ${columns} FROM replay WHERE id IN (SELECT value::uuid FROM json_array_elements_text($1::text::json))`

/** $1 id, $2 state, $3 approved_by, $4 error. Ended where nothing more is to be done by itself. */
export const SET_STATE: string = `
UPDATE replay SET state = $2, approved_by = $3, error = $4,
  ended_at = CASE WHEN $2 IN ('finished', 'cancelled', 'failed') THEN date_trunc('milliseconds', now()) END
WHERE id = $1::uuid
RETURNING ${columns}`

/** The replay whose turn it is; those that others are at are passed over. */
export const LOCK_NEXT: string = `
SELECT ${columns}, floor(extract(epoch FROM now()) * 1000)::float8 AS now FROM replay
WHERE (state = 'running' OR state = 'cancelling') AND (state = 'cancelling' OR NOT all_met)
ORDER BY replay.stepped_at NULLS FIRST, replay.id LIMIT 1 FOR UPDATE SKIP LOCKED`

/**
 * Records under lock, so that what is decided about them holds until it is written. $1 ids as JSON. In one order, as
 * everybody locks records. Columns: whether it has a payload, the id,
 * those of `RecordRow`.
 */
export const LOCK_RECORDS = `
SELECT
  r.payload IS NOT NULL, r.id,
  r.version, r.class, r.consumer, r.key, r.state, r.cause, r.generation, r.attempt, r.claim_token, r.fencing_token,
  r.owner, r.lease_ms, r.on_lease_expiry, date_part('epoch', r.lease_expires_at), date_part('epoch', r.sweep_at),
  date_part('epoch', r.first_claimed_at), date_part('epoch', r.claimed_at), date_part('epoch', r.ended_at),
  date_part('epoch', r.available_at), r.fingerprint_kind, r.fingerprint, r.result::text, r.error::text,
  date_part('epoch', r.details_erased_at), r.replay::text
FROM record AS r
WHERE r.id IN (SELECT value::uuid FROM json_array_elements_text($1::text::json))
ORDER BY r.id FOR UPDATE`

/**
 * What arming and its putting back write, and nothing else of a record: details that were erased stay marked so.
 *
 * $1 [{id, version, state, cause, lease_expires_at, ended_at, available_at, replay}, …], times in seconds, as JSON.
 */
export const WRITE_RECORDS = `
UPDATE record AS r
SET version = t.version, state = t.state, cause = t.cause, lease_expires_at = to_timestamp(t.lease_expires_at),
  sweep_at = NULL, ended_at = to_timestamp(t.ended_at), available_at = to_timestamp(t.available_at), replay = t.replay
FROM json_to_recordset($1::text::json) AS t (
  id uuid, version int, state smallint, cause smallint, lease_expires_at float8, ended_at float8, available_at float8,
  replay json
)
WHERE r.id = t.id AND r.version = t.version - 1`

/** $1 replay id, $2 [{place, record_id, outcome}, …] as JSON. */
export const ADD_ITEMS = `
INSERT INTO replay_item (replay_id, place, at, record_id, outcome)
SELECT $1::uuid, place, date_trunc('milliseconds', now()), record_id, outcome
FROM json_to_recordset($2::text::json) AS t (place bigint, record_id text, outcome text)`

/** $1 id, $2 place, $3 more armed, $4 more left out, $5 and $6 time and id of the record met last, of a filter. */
export const NOTE_MET = `
UPDATE replay SET place = $2::bigint, armed = armed + $3::int, left_out = left_out + $4::int,
  after_time = to_timestamp($5::float8 / 1000), after_id = $6::uuid, stepped_at = now()
WHERE id = $1::uuid`

/** Armed ones of a replay, pushed or not. $1 id, $2 after this place, $3 how many. */
export const READ_ARMED = `
SELECT place::float8 AS place, record_id FROM replay_item
WHERE replay_id = $1::uuid AND replay_item.place > $2::bigint AND (outcome = 'armed' OR outcome = 'pushed' OR outcome = 'push_failed')
ORDER BY replay_item.place LIMIT $3::int`

/** $1 id, $2 [place, …] as JSON. */
export const MARK_PUT_BACK = `
UPDATE replay_item SET outcome = 'put_back', at = date_trunc('milliseconds', now())
WHERE replay_id = $1::uuid AND place IN (SELECT value::bigint FROM json_array_elements_text($2::text::json))`

/** $1 id, $2 place, $3 how many more. */
export const NOTE_PUT_BACK = `
UPDATE replay SET put_back_place = $2::bigint, put_back = put_back + $3::int, stepped_at = now() WHERE id = $1::uuid`

/** $1 id, $2 why. */
export const FAIL_REPLAY = `
UPDATE replay SET state = 'failed', error = $2, ended_at = date_trunc('milliseconds', now())
WHERE id = $1::uuid AND state = 'running'`

/** $1 replay id, $2 [{place, record_id}, …] as JSON: due at once. */
export const ADD_PUSHES = `
INSERT INTO replay_push (replay_id, place, next_try_at, tries, record_id, state)
SELECT $1::uuid, place, date_trunc('milliseconds', now()), 0, record_id, 'pending'
FROM json_to_recordset($2::text::json) AS t (place bigint, record_id text)`

/** $1 replay id. It ends with its last push, or here where none is pending. */
export const MARK_ALL_MET = `UPDATE replay SET all_met = true WHERE id = $1::uuid`

/** $1 replay id. Ends a replay that met all and has no push pending. */
export const FINISH_PUSHED = `
UPDATE replay SET state = 'finished', ended_at = date_trunc('milliseconds', now())
WHERE id = $1::uuid AND state = 'running' AND all_met
  AND NOT EXISTS (SELECT FROM replay_push WHERE replay_id = $1::uuid AND state = 'pending')`

/** $1 replay id. */
export const DROP_PUSHES = `
UPDATE replay_push SET state = 'not_needed' WHERE replay_id = $1::uuid AND state = 'pending'`

/**
 * Takes due pushes of replays that are not paused or cancelled; they are due again after $2 ms, should who takes them not
 * come back. $1 how many.
 */
export const TAKE_PUSHES = `
WITH due AS (
  SELECT p.replay_id, p.place FROM replay_push AS p JOIN replay AS r ON r.id = p.replay_id
  WHERE p.state = 'pending' AND p.next_try_at <= now() AND r.state = 'running'
  ORDER BY p.next_try_at LIMIT $1::int FOR UPDATE OF p SKIP LOCKED
)
UPDATE replay_push AS p
SET tries = p.tries + 1, first_tried_at = COALESCE(p.first_tried_at, date_trunc('milliseconds', now())),
  next_try_at = date_trunc('milliseconds', now()) + $2::float8 * interval '1 millisecond'
FROM due JOIN replay AS r ON r.id = due.replay_id
WHERE p.replay_id = due.replay_id AND p.place = due.place
RETURNING p.replay_id::text AS replay_id, p.place::float8 AS place, p.record_id, p.tries, r.reason,
  (floor(extract(epoch FROM now()) * 1000) - floor(extract(epoch FROM p.first_tried_at) * 1000))::float8 AS elapsed_ms`

/** $1 [{replay_id, place, tries, in_ms, error}, …] as JSON: the try it is about, and in how many ms the next one is due. */
export const NOTE_RETRIES = `
UPDATE replay_push AS p
SET next_try_at = date_trunc('milliseconds', now()) + t.in_ms * interval '1 millisecond', error = t.error
FROM json_to_recordset($1::text::json) AS t (replay_id uuid, place bigint, tries int, in_ms float8, error text)
WHERE p.replay_id = t.replay_id AND p.place = t.place AND p.state = 'pending' AND p.tries = t.tries`

/** $1 [{replay_id, place, state, error}, …] as JSON. Answers those that were pending. */
export const END_PUSHES = `
UPDATE replay_push AS p SET state = t.state, error = t.error
FROM json_to_recordset($1::text::json) AS t (replay_id uuid, place bigint, state text, error text)
WHERE p.replay_id = t.replay_id AND p.place = t.place AND p.state = 'pending'
RETURNING p.replay_id::text AS replay_id, p.place::float8 AS place, p.state`

/** $1 [{replay_id, place, outcome}, …] as JSON. */
export const SET_OUTCOMES = `
UPDATE replay_item AS i SET outcome = t.outcome, at = date_trunc('milliseconds', now())
FROM json_to_recordset($1::text::json) AS t (replay_id uuid, place bigint, outcome text)
WHERE i.replay_id = t.replay_id AND i.place = t.place AND i.outcome = 'armed'`

/** $1 replay id, $2 more pushed, $3 more failed. */
export const NOTE_PUSHED = `
UPDATE replay SET pushed = pushed + $2::int, push_failed = push_failed + $3::int WHERE id = $1::uuid`
