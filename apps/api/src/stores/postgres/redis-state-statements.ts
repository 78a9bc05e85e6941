// Statements about what is known of Redis and what it lost. Cold: some writes a minute at most, and where it lost
// something. Times as milliseconds since 1970.

/** What is known of Redis, as text; no row before the first time. */
export const READ_REDIS_STATE = `
SELECT value::text AS state FROM setting WHERE name = 'window_redis'`

/** $1 state, where none was ever kept. A row where it was written. */
export const FIRST_REDIS_STATE = `
INSERT INTO setting (name, value, updated_at) VALUES ('window_redis', $1::text::json, date_trunc('milliseconds', now()))
ON CONFLICT (name) DO NOTHING
RETURNING name`

/** $1 state, $2 the state that it follows. A row where that one still stood. */
export const NEXT_REDIS_STATE = `
UPDATE setting SET value = $1::text::json, updated_at = date_trunc('milliseconds', now())
WHERE name = 'window_redis' AND value::text = $2
RETURNING name`

/**
 * $1 cause, $2 from_at, $3 to_at, $4 detail. The end of to_at and until_at is the database's: what it acknowledged
 * before is older. What Redis may have lost is remembered until `redis_until` of its class at most; where all of
 * that is over there is nothing to declare. A span that begins within 5 s of the last one of its cause moves that one's
 * end: evictions that go on would make a span each second.
 */
export const DECLARE_REDIS_LOSS = `
WITH span AS MATERIALIZED (
  SELECT from_at, to_at, greatest(to_at, until_at) AS until_at
  FROM (
    SELECT to_timestamp($2::float8 / 1000) AS from_at,
           greatest(to_timestamp($3::float8 / 1000), clock_timestamp()) AS to_at,
           (SELECT max(redis_until) FROM class_place) AS until_at
  ) AS s
  WHERE until_at > from_at
), moved AS (
  UPDATE window_loss SET to_at = greatest(window_loss.to_at, span.to_at),
                         until_at = greatest(window_loss.until_at, span.until_at), detail = $4
  FROM span
  WHERE window_loss.id = (SELECT id FROM window_loss WHERE class IS NULL AND cause = $1 ORDER BY id DESC LIMIT 1)
    AND window_loss.from_at <= span.from_at AND window_loss.to_at >= span.from_at - interval '5 seconds'
  RETURNING id
)
INSERT INTO window_loss (class, cause, from_at, to_at, until_at, detail)
SELECT NULL, $1, date_trunc('milliseconds', from_at), to_at, until_at, $4 FROM span
WHERE NOT EXISTS (SELECT FROM moved)`
