// Statements about where classes are kept. Cold: on changes of policies, and where a bound has to be raised.
// Lists go in as one JSON text, times as milliseconds since 1970.

/** Every class that ever claimed, and when first. */
export const READ_SEEN_CLASSES = `
SELECT class, floor(extract(epoch FROM min(first_seen_at)) * 1000)::float8 AS first_seen_at
FROM class_seen GROUP BY class`

/** All policies, for their comparison before and after a change. */
export const READ_ALL_POLICIES = `
SELECT name, version, policy::text AS policy, floor(extract(epoch FROM updated_at) * 1000)::float8 AS updated_at, updated_by
FROM class_policy`

/**
 * $1 [{class, first_seen_at, old_store, old_window_ms, store, window_ms}, …]. The era before the first change begins with
 * the class. The clock and not the transaction's start, which may have waited for its lock.
 */
export const WRITE_ERAS = `
WITH change AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::text::json) AS c (
    class text, first_seen_at float8, old_store smallint, old_window_ms bigint, store smallint, window_ms bigint
  )
), first_era AS (
  INSERT INTO class_era (class, since, store, window_ms)
  SELECT class, to_timestamp(first_seen_at / 1000), old_store, old_window_ms FROM change
  WHERE NOT EXISTS (SELECT FROM class_era AS e WHERE e.class = change.class)
  ON CONFLICT (class, since) DO NOTHING
)
INSERT INTO class_era (class, since, store, window_ms)
SELECT class,
  greatest(date_trunc('milliseconds', clock_timestamp()), to_timestamp(first_seen_at / 1000) + interval '1 millisecond'),
  store, window_ms
FROM change
ON CONFLICT (class, since) DO UPDATE SET store = EXCLUDED.store, window_ms = EXCLUDED.window_ms`

/** $1 [class, …]. Their policies say window, and the ledger has records of them. */
export const HOLD_IN_LEDGER = `
INSERT INTO class_place (class, ledger_held)
SELECT class, true FROM json_array_elements_text($1::text::json) AS c (class)
ORDER BY class COLLATE "C"
ON CONFLICT (class) DO UPDATE SET ledger_held = true`

/** Counts a change of places: every process re-reads them. */
export const BUMP_WINDOW_REVISION = `
UPDATE setting SET value = to_json(value::text::bigint + 1), updated_at = date_trunc('milliseconds', now())
WHERE name = 'window_revision'`

/**
 * Raises the fencing numbers above the clock in µs, $1 ms ahead. Never sets them back: where they are higher already,
 * nothing is set, and in between they only grow.
 */
export const RAISE_FENCING = `
SELECT setval('fencing_token', target.number)
FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $1::bigint * 1000 AS number) AS target
WHERE (SELECT last_value FROM fencing_token) < target.number`

/** $1 [{class, redis_until, postgres_until}, …]; null leaves a bound. Bounds never go back. */
export const RAISE_PLACES = `
INSERT INTO class_place (class, redis_until, postgres_until)
SELECT class, to_timestamp(redis_until / 1000), to_timestamp(postgres_until / 1000)
FROM json_to_recordset($1::text::json) AS p (class text, redis_until float8, postgres_until float8)
ORDER BY class COLLATE "C"
ON CONFLICT (class) DO UPDATE
  SET redis_until = greatest(class_place.redis_until, EXCLUDED.redis_until),
      postgres_until = greatest(class_place.postgres_until, EXCLUDED.postgres_until)`

/** $1 class, $2 for how long from now on, in ms. Moves on the outage that lasts; no row where none does. */
export const PROLONG_OUTAGE = `
UPDATE window_loss
SET to_at = now() + $2::float8 * interval '1 millisecond', until_at = now() + $2::float8 * interval '1 millisecond'
WHERE class = $1 AND cause = 'outage' AND to_at > now()
RETURNING id`

/** $1 class, $2 for how long from now on, in ms. */
export const BEGIN_OUTAGE = `
INSERT INTO window_loss (class, cause, from_at, to_at, until_at)
VALUES ($1, 'outage', date_trunc('milliseconds', now()), now() + $2::float8 * interval '1 millisecond',
        now() + $2::float8 * interval '1 millisecond')`
