// Statements of `compareAndSet`. Both write the same UPDATE; it stands twice because the plain form is one that a
// distributed Postgres takes for any number of rows, and the other one for a single record.
//
// States come as columns of parameters, never as literals, so that the primary key is the only way to the rows; no
// function is volatile. Times are seconds since 1970, references are joined by U+001F, ids ascend, no id twice.

/** $1 how many. Drawn before the write, as an UPDATE must not: a number is only used with the version read before it. */
export const DRAW_FENCING_TOKENS = `SELECT nextval('fencing_token') FROM generate_series(1, $1::int)`

/**
 * Writes records over the versions that were read. Answers the ids it wrote.
 *
 * $1 id, $2 version that has to stand, $3 version, $4 state, $5 cause, $6 generation, $7 attempt, $8 claim_token,
 * $9 fencing_token, $10 owner, $11 lease_ms, $12 on_lease_expiry, $13 lease_expires_at, $14 sweep_at, $15 claimed_at,
 * $16 ended_at, $17 available_at, $18 fingerprint_kind, $19 fingerprint, $20 result, $21 error; written where still null:
 * $22 payload, $23 refs, $24 source, $25 seq, $26 occurred_at; $27 replay.
 */
export const CHANGE_RECORDS = `
UPDATE record AS r
SET version = t.version, state = t.state, cause = t.cause, generation = t.generation, attempt = t.attempt,
  claim_token = t.claim_token, fencing_token = t.fencing_token, owner = t.owner, lease_ms = t.lease_ms,
  on_lease_expiry = t.on_lease_expiry, lease_expires_at = to_timestamp(t.lease_expires_at),
  sweep_at = to_timestamp(t.sweep_at), claimed_at = to_timestamp(t.claimed_at), ended_at = to_timestamp(t.ended_at),
  available_at = to_timestamp(t.available_at), fingerprint_kind = t.fingerprint_kind, fingerprint = t.fingerprint,
  result = t.result, error = t.error, details_erased_at = NULL, replay = t.replay,
  payload = COALESCE(r.payload, t.payload), refs = COALESCE(r.refs, string_to_array(t.refs, E'\\x1f')),
  source = COALESCE(r.source, t.source), seq = COALESCE(r.seq, t.seq), occurred_at = COALESCE(r.occurred_at, to_timestamp(t.occurred_at))
FROM unnest(
  $1::uuid[], $2::int[], $3::int[], $4::smallint[], $5::smallint[], $6::int[], $7::int[], $8::uuid[], $9::bigint[],
  $10::text[], $11::int[], $12::smallint[], $13::float8[], $14::float8[], $15::float8[], $16::float8[], $17::float8[],
  $18::smallint[], $19::bytea[], $20::json[], $21::json[], $22::json[], $23::text[], $24::text[], $25::bigint[],
  $26::float8[], $27::json[]
) AS t (
  id, expected_version, version, state, cause, generation, attempt, claim_token, fencing_token,
  owner, lease_ms, on_lease_expiry, lease_expires_at, sweep_at, claimed_at, ended_at, available_at,
  fingerprint_kind, fingerprint, result, error, payload, refs, source, seq, occurred_at, replay
)
WHERE r.id = t.id AND r.version = t.expected_version
RETURNING r.id`

/**
 * The same, and with a record that was written its displaced attempt and its audit line, all or nothing.
 *
 * The displaced attempts: $28 record_id, $29 fencing_token, $30 generation, $31 attempt, $32 claim_token, $33 owner,
 * $34 claimed_at, $35 lease_expires_at, $36 ended_at, $37 ending, $38 error, $39 result. The audit lines: $40 record id,
 * $41 actor, $42 action, $43 target, $44 reason, $45 before, $46 after, $47 request_id.
 */
export const CHANGE_RECORDS_WITH_TRACES = `
WITH changed AS (
UPDATE record AS r
SET version = t.version, state = t.state, cause = t.cause, generation = t.generation, attempt = t.attempt,
  claim_token = t.claim_token, fencing_token = t.fencing_token, owner = t.owner, lease_ms = t.lease_ms,
  on_lease_expiry = t.on_lease_expiry, lease_expires_at = to_timestamp(t.lease_expires_at),
  sweep_at = to_timestamp(t.sweep_at), claimed_at = to_timestamp(t.claimed_at), ended_at = to_timestamp(t.ended_at),
  available_at = to_timestamp(t.available_at), fingerprint_kind = t.fingerprint_kind, fingerprint = t.fingerprint,
  result = t.result, error = t.error, details_erased_at = NULL, replay = t.replay,
  payload = COALESCE(r.payload, t.payload), refs = COALESCE(r.refs, string_to_array(t.refs, E'\\x1f')),
  source = COALESCE(r.source, t.source), seq = COALESCE(r.seq, t.seq), occurred_at = COALESCE(r.occurred_at, to_timestamp(t.occurred_at))
FROM unnest(
  $1::uuid[], $2::int[], $3::int[], $4::smallint[], $5::smallint[], $6::int[], $7::int[], $8::uuid[], $9::bigint[],
  $10::text[], $11::int[], $12::smallint[], $13::float8[], $14::float8[], $15::float8[], $16::float8[], $17::float8[],
  $18::smallint[], $19::bytea[], $20::json[], $21::json[], $22::json[], $23::text[], $24::text[], $25::bigint[],
  $26::float8[], $27::json[]
) AS t (
  id, expected_version, version, state, cause, generation, attempt, claim_token, fencing_token,
  owner, lease_ms, on_lease_expiry, lease_expires_at, sweep_at, claimed_at, ended_at, available_at,
  fingerprint_kind, fingerprint, result, error, payload, refs, source, seq, occurred_at, replay
)
WHERE r.id = t.id AND r.version = t.expected_version
RETURNING r.id
), archived AS (
  INSERT INTO attempt (
    record_id, fencing_token, claim_token, claimed_at, lease_expires_at, ended_at,
    generation, attempt, ending, owner, error, result
  )
  SELECT a.record_id, a.fencing_token, a.claim_token, to_timestamp(a.claimed_at), to_timestamp(a.lease_expires_at),
    to_timestamp(a.ended_at), a.generation, a.attempt, a.ending, a.owner, a.error, a.result
  FROM unnest(
    $28::uuid[], $29::bigint[], $30::int[], $31::int[], $32::uuid[], $33::text[], $34::float8[], $35::float8[],
    $36::float8[], $37::smallint[], $38::json[], $39::json[]
  ) AS a (
    record_id, fencing_token, generation, attempt, claim_token, owner, claimed_at, lease_expires_at,
    ended_at, ending, error, result
  )
  JOIN changed ON changed.id = a.record_id
), audited AS (
  INSERT INTO audit (actor, action, target, reason, before, after, request_id)
  SELECT l.actor, l.action, l.target, l.reason, l.before, l.after, l.request_id
  FROM unnest($40::uuid[], $41::text[], $42::text[], $43::text[], $44::text[], $45::json[], $46::json[], $47::text[])
    AS l (record_id, actor, action, target, reason, before, after, request_id)
  JOIN changed ON changed.id = l.record_id
)
SELECT id FROM changed`
