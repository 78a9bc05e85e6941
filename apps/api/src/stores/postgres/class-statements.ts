// Statements about policies and the classes seen in claims. Cold: a few per second and process at most.
// Lists go in as one JSON text, times come out as milliseconds since 1970; both work with any setting of the driver.
// Class patterns of a scope go in as LIKE patterns, see `likePatterns`.

/** How often policies or places were changed: both counts only grow, so their sum tells whether either did. And the clock. */
export const REVISION = `
SELECT (SELECT sum(value::text::float8) FROM setting WHERE name IN ('policy_revision', 'window_revision')) AS revision,
       floor(extract(epoch FROM now()) * 1000)::float8 AS now`

/**
 * Counts a change of policies and locks the count until the transaction ends, so that changes come one after the other
 * and whoever sees a number sees its change. First statement of every change; a refused one counts too.
 */
export const BUMP_POLICY_REVISION = `
INSERT INTO setting (name, value, updated_at) VALUES ('policy_revision', '1', date_trunc('milliseconds', now()))
ON CONFLICT (name) DO UPDATE
  SET value = to_json(setting.value::text::bigint + 1), updated_at = EXCLUDED.updated_at`

/** All policies, what is known of places, and the revisions they stand at, in one snapshot. Losses: the newest 1 000. */
export const READ_POLICIES = `
SELECT (SELECT sum(value::text::float8) FROM setting WHERE name IN ('policy_revision', 'window_revision')) AS revision,
       (SELECT value::text::float8 FROM setting WHERE name = 'policy_revision') AS policy_revision,
       floor(extract(epoch FROM now()) * 1000)::float8 AS now,
       coalesce((SELECT json_agg(e ORDER BY e.since)::text FROM (
         SELECT class, floor(extract(epoch FROM since) * 1000)::float8 AS since, store, window_ms FROM class_era
       ) e), '[]') AS eras,
       coalesce((SELECT json_agg(p)::text FROM (
         SELECT class, floor(extract(epoch FROM redis_until) * 1000)::float8 AS redis_until,
                floor(extract(epoch FROM postgres_until) * 1000)::float8 AS postgres_until, ledger_held
         FROM class_place
       ) p), '[]') AS places,
       coalesce((SELECT json_agg(l)::text FROM (
         SELECT class, cause, floor(extract(epoch FROM from_at) * 1000)::float8 AS from_at,
                floor(extract(epoch FROM to_at) * 1000)::float8 AS to_at,
                floor(extract(epoch FROM until_at) * 1000)::float8 AS until_at, detail
         FROM window_loss ORDER BY id DESC LIMIT 1000
       ) l), '[]') AS losses,
       coalesce((
         SELECT json_agg(p)::text
         FROM (SELECT name, version, policy::text AS policy,
                      floor(extract(epoch FROM updated_at) * 1000)::float8 AS updated_at, updated_by
               FROM class_policy) p
       ), '[]') AS policies`

/** $1 name. */
export const READ_POLICY = `
SELECT name, version, policy::text AS policy, floor(extract(epoch FROM updated_at) * 1000)::float8 AS updated_at, updated_by
FROM class_policy WHERE name = $1`

/** $1 name. The last version it ever had, deletions counted; 0 for a name without history. */
export const LAST_VERSION = `
SELECT coalesce(max(version), 0) AS version FROM class_policy_history WHERE name = $1`

/** $1 name, $2 version, $3 policy, $4 by. */
export const WRITE_POLICY = `
INSERT INTO class_policy (name, version, policy, updated_at, updated_by)
VALUES ($1, $2, $3::text::json, date_trunc('milliseconds', now()), $4)
ON CONFLICT (name) DO UPDATE
  SET version = EXCLUDED.version, policy = EXCLUDED.policy, updated_at = EXCLUDED.updated_at,
      updated_by = EXCLUDED.updated_by`

/** $1 name. */
export const DELETE_POLICY = `
DELETE FROM class_policy WHERE name = $1`

/** $1 name, $2 version, $3 policy or null, $4 diff, $5 by, $6 reason. Answers when. */
export const WRITE_HISTORY = `
INSERT INTO class_policy_history (name, version, policy, diff, at, by, reason)
VALUES ($1, $2, $3::text::json, $4::text::json, date_trunc('milliseconds', now()), $5, $6)
RETURNING floor(extract(epoch FROM at) * 1000)::float8 AS at`

/** $1 name, $2 version to stay below, $3 limit. Newest first. */
export const READ_HISTORY = `
SELECT version, policy::text AS policy, diff::text AS diff, floor(extract(epoch FROM at) * 1000)::float8 AS at, by, reason
FROM class_policy_history
WHERE name = $1 AND version < $2
ORDER BY version DESC LIMIT $3`

/** $1 class patterns, $2 consumer or null, $3 name to stay above or null, $4 limit. By name. */
export const LIST_CLASS_NAMES = `
SELECT name
FROM (
  SELECT class AS name FROM class_seen WHERE $2::text IS NULL OR consumer = $2
  UNION
  SELECT name FROM class_policy
) named
WHERE name LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
  AND ($3::text IS NULL OR name > $3)
ORDER BY name LIMIT $4`

/** $1 names, $2 consumer or null. One row per name, in their order; consumers are those of $2 where it is given. */
export const READ_CLASSES = `
SELECT n.name, p.version, p.policy::text AS policy,
       floor(extract(epoch FROM p.updated_at) * 1000)::float8 AS updated_at, p.updated_by,
       EXISTS (SELECT FROM class_review r WHERE r.class = n.name) AS marked,
       (SELECT floor(extract(epoch FROM min(first_seen_at)) * 1000)::float8
        FROM class_seen s WHERE s.class = n.name AND ($2::text IS NULL OR s.consumer = $2)) AS first_seen_at,
       (SELECT coalesce(json_agg(c.consumer), '[]')::text
        FROM (SELECT s.consumer FROM class_seen s
              WHERE s.class = n.name AND ($2::text IS NULL OR s.consumer = $2)
              ORDER BY s.consumer LIMIT 100) c) AS consumers
FROM json_array_elements_text($1::text::json) WITH ORDINALITY AS n (name, place)
LEFT JOIN class_policy p ON p.name = n.name
ORDER BY n.place`

/** $1 class, $2 by. No row where it is marked already. */
export const MARK_REVIEWED = `
INSERT INTO class_review (class, at, by) VALUES ($1, date_trunc('milliseconds', now()), $2)
ON CONFLICT (class) DO NOTHING
RETURNING class`

/**
 * $1 [{consumer, class}, …], $2 the policies' revision they were judged by. In one order, so that no two calls wait for
 * each other. The count is locked: whoever changes policies waits until the pairs are there to be seen, and who comes
 * after such a change adds nothing. Answers whether the revision still stood.
 */
export const ADD_PAIRS = `
WITH standing AS MATERIALIZED (
  SELECT name FROM setting WHERE name = 'policy_revision' AND value::text::float8 = $2::float8 FOR SHARE
), added AS (
  INSERT INTO class_seen (class, consumer, first_seen_at)
  SELECT pair.class, pair.consumer, date_trunc('milliseconds', now())
  FROM standing, json_to_recordset($1::text::json) AS pair (class text, consumer text)
  ORDER BY pair.class COLLATE "C", pair.consumer COLLATE "C"
  ON CONFLICT (class, consumer) DO NOTHING
)
SELECT EXISTS (SELECT FROM standing) AS stood`

/** $1 class patterns, $2 consumer or null, $3 class asked or null, $4 consumer asked or null, $5 limit. */
export const FIND_PAIRS = `
SELECT class, consumer, floor(extract(epoch FROM first_seen_at) * 1000)::float8 AS first_seen_at
FROM class_seen
WHERE class LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
  AND ($2::text IS NULL OR consumer = $2)
  AND ($3::text IS NULL OR class = $3)
  AND ($4::text IS NULL OR consumer = $4)
ORDER BY class, consumer LIMIT $5`

/** When the database was initialised, as text. */
export const LEDGER_BEGAN_AT = `
SELECT floor(extract(epoch FROM (value #>> '{}')::timestamptz) * 1000)::float8 AS began_at
FROM setting WHERE name = 'ledger_began_at'`
