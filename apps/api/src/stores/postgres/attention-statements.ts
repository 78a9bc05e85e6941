// Statements about what people should look at. Cold. Each looks at a bounded number of candidates, the newest, however
// many there are: a state that a million records are in must not keep the others from being told. Parameters of all:
// $1 class patterns (see `likePatterns`) as JSON, $2 consumer or null, $3 candidates looked at, $4 rows shown.
// Times come out in milliseconds since 1970.

/**
 * Records by kind, as of one moment: how many candidates were looked at, how many of them count, and the newest of
 * those. Numbers of states, causes and rules are literals, so that the partial indexes are used: see `record-codes.ts`.
 */
export const READ_ATTENTION_RECORDS = `
WITH candidates AS MATERIALIZED (
  (SELECT 'held' AS kind, 1 AS branch, id, first_claimed_at, class, consumer, lease_expires_at AS since, true AS due
   FROM record WHERE state = 5
   ORDER BY first_claimed_at DESC LIMIT $3)
  UNION ALL
  -- Held as well, though the sweeper has not been there yet.
  (SELECT 'held', 2, id, first_claimed_at, class, consumer, lease_expires_at, on_lease_expiry = 2
   FROM record WHERE state = 1 AND sweep_at < date_trunc('milliseconds', now())
   ORDER BY sweep_at DESC LIMIT $3)
  UNION ALL
  (SELECT 'dead', 3, id, first_claimed_at, class, consumer, ended_at,
          cause <> 4 AND ended_at >= now() - interval '30 days'
   FROM record WHERE state = 4
   ORDER BY first_claimed_at DESC LIMIT $3)
  UNION ALL
  (SELECT 'interrupted', 4, id, first_claimed_at, class, consumer, lease_expires_at,
          on_lease_expiry = 1
            AND lease_expires_at < now() - greatest(lease_ms * 10, 600000) * interval '1 millisecond'
   FROM record WHERE state = 1 AND sweep_at IS NULL
   ORDER BY first_claimed_at DESC LIMIT $3)
  UNION ALL
  (SELECT 'failed', 5, id, first_claimed_at, class, consumer, available_at,
          available_at < now() - greatest(lease_ms * 10, 600000) * interval '1 millisecond'
   FROM record WHERE state = 3
   ORDER BY first_claimed_at DESC LIMIT $3)
  UNION ALL
  (SELECT 'ready', 6, id, first_claimed_at, class, consumer, ended_at, ended_at < now() - interval '1 hour'
   FROM record WHERE state = 7
   ORDER BY first_claimed_at DESC LIMIT $3)
), found AS MATERIALIZED (
  SELECT kind, id, since, row_number() OVER (PARTITION BY kind ORDER BY first_claimed_at DESC, id DESC) AS place
  FROM candidates
  WHERE due AND class LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
    AND ($2::text IS NULL OR consumer = $2)
)
SELECT
  coalesce((SELECT json_agg(c)::text FROM (
    SELECT kind, count(*) AS count FROM found GROUP BY kind
  ) c), '[]') AS counts,
  coalesce((SELECT json_agg(DISTINCT l.kind)::text FROM (
    SELECT kind FROM candidates GROUP BY kind, branch HAVING count(*) >= $3
  ) l), '[]') AS more,
  coalesce((SELECT json_agg(s)::text FROM (
    SELECT f.kind, r.id, r.class, r.consumer, r.key, r.state, r.cause, r.attempt,
           CASE WHEN octet_length(r.error::text) <= 2000 THEN r.error::text END AS error,
           floor(extract(epoch FROM f.since) * 1000)::float8 AS since
    FROM found f JOIN record r ON r.id = f.id
    WHERE f.place <= $4
    ORDER BY f.since DESC, r.id
  ) s), '[]') AS shown`

/** Late completions of the last 7 days, by record, the latest first. */
export const READ_LATE_COMPLETIONS = `
WITH candidates AS MATERIALIZED (
  SELECT record_id, at FROM late_completion WHERE at >= now() - interval '7 days' ORDER BY at DESC LIMIT $3
), found AS MATERIALIZED (
  SELECT r.id, r.class, r.consumer, r.key, r.state, l.count, l.first_at, l.last_at
  FROM (
    SELECT record_id, count(*) AS count, min(at) AS first_at, max(at) AS last_at FROM candidates GROUP BY record_id
  ) l
  JOIN record r ON r.id = l.record_id
  WHERE r.class LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
    AND ($2::text IS NULL OR r.consumer = $2)
)
SELECT
  (SELECT count(*) FROM found)::float8 AS count,
  (SELECT count(*) FROM candidates) >= $3 AS more,
  coalesce((SELECT json_agg(s)::text FROM (
    SELECT id, class, consumer, key, state, count, floor(extract(epoch FROM first_at) * 1000)::float8 AS first_at,
           floor(extract(epoch FROM last_at) * 1000)::float8 AS last_at
    FROM found ORDER BY last_at DESC, id LIMIT $4
  ) s), '[]') AS shown`

/** Mismatches of the last 24 hours, by record, the latest first. */
export const READ_MISMATCHES = `
WITH candidates AS MATERIALIZED (
  SELECT * FROM mismatch_tally WHERE last_at >= now() - interval '24 hours' ORDER BY last_at DESC LIMIT $3
), found AS MATERIALIZED (
  SELECT * FROM candidates
  WHERE class LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
    AND ($2::text IS NULL OR consumer = $2)
)
SELECT
  (SELECT count(*) FROM found)::float8 AS count,
  (SELECT count(*) FROM candidates) >= $3 AS more,
  coalesce((SELECT json_agg(s)::text FROM (
    SELECT record_id, class, consumer, key, count, floor(extract(epoch FROM first_at) * 1000)::float8 AS first_at,
           floor(extract(epoch FROM last_at) * 1000)::float8 AS last_at
    FROM found ORDER BY last_at DESC, record_id LIMIT $4
  ) s), '[]') AS shown`

/** Consumers first seen in the last 24 hours on a class that was known for 24 hours by then, the latest first. */
export const READ_NEW_CONSUMERS = `
WITH candidates AS MATERIALIZED (
  SELECT class, consumer, first_seen_at FROM class_seen
  WHERE first_seen_at >= now() - interval '24 hours'
    AND class LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
    AND ($2::text IS NULL OR consumer = $2)
  ORDER BY first_seen_at DESC LIMIT $3
), known AS MATERIALIZED (
  SELECT class, min(first_seen_at) AS since FROM class_seen
  WHERE class IN (SELECT class FROM candidates) GROUP BY class
), found AS MATERIALIZED (
  SELECT c.class, c.consumer, c.first_seen_at, k.since FROM candidates c
  JOIN known k ON k.class = c.class AND k.since < c.first_seen_at - interval '24 hours'
)
SELECT
  (SELECT count(*) FROM found)::float8 AS count,
  (SELECT count(*) FROM candidates) >= $3 AS more,
  coalesce((SELECT json_agg(s)::text FROM (
    SELECT class, consumer, floor(extract(epoch FROM first_seen_at) * 1000)::float8 AS first_seen_at,
           floor(extract(epoch FROM since) * 1000)::float8 AS known_since
    FROM found ORDER BY found.first_seen_at DESC, class, consumer LIMIT $4
  ) s), '[]') AS shown`

/** Classes that were claimed, without an own policy and not marked as looked at, the latest first. */
export const READ_UNREVIEWED_CLASSES = `
WITH found AS MATERIALIZED (
  SELECT class, min(first_seen_at) AS first_seen_at FROM class_seen AS s
  WHERE class LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
    AND ($2::text IS NULL OR consumer = $2)
    AND NOT EXISTS (SELECT FROM class_policy p WHERE p.name = s.class)
    AND NOT EXISTS (SELECT FROM class_review r WHERE r.class = s.class)
  GROUP BY class ORDER BY min(first_seen_at) DESC LIMIT $3
)
SELECT
  (SELECT count(*) FROM found)::float8 AS count,
  (SELECT count(*) FROM found) >= $3 AS more,
  coalesce((SELECT json_agg(s)::text FROM (
    SELECT class, floor(extract(epoch FROM first_seen_at) * 1000)::float8 AS first_seen_at
    FROM found ORDER BY found.first_seen_at DESC, class LIMIT $4
  ) s), '[]') AS shown`

/** Policies by name within the scope, the latest changed first. $1 class patterns. */
export const READ_POLICIES_IN_SCOPE = `
SELECT name, version, policy::text AS policy, floor(extract(epoch FROM updated_at) * 1000)::float8 AS updated_at, updated_by
FROM class_policy
WHERE name LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
ORDER BY class_policy.updated_at DESC, name`

/** Adds to counts of mismatches. $1 rows of {record_id, class, consumer, key, count, first_at, last_at}, none twice. */
export const ADD_MISMATCHES = `
INSERT INTO mismatch_tally AS m (record_id, class, consumer, key, count, first_at, last_at)
SELECT t.record_id, t.class, t.consumer, t.key, t.count, to_timestamp(t.first_at / 1000), to_timestamp(t.last_at / 1000)
FROM json_to_recordset($1::text::json) AS t (
  record_id text, class text, consumer text, key text, count bigint, first_at float8, last_at float8
)
ORDER BY t.record_id COLLATE "C"
ON CONFLICT (record_id) DO UPDATE SET
  count = m.count + EXCLUDED.count,
  first_at = LEAST(m.first_at, EXCLUDED.first_at),
  last_at = GREATEST(m.last_at, EXCLUDED.last_at)`

/** $1 how far the last one may lie back in ms, $2 limit. The oldest first. */
export const FORGET_MISMATCHES = `
DELETE FROM mismatch_tally AS m
USING (
  SELECT record_id FROM mismatch_tally
  WHERE last_at < now() - $1::float8 * interval '1 millisecond'
  ORDER BY last_at LIMIT $2
) AS due
WHERE m.record_id = due.record_id AND m.last_at < now() - $1::float8 * interval '1 millisecond'`
