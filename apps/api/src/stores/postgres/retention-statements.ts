// Statements of retention. Those that look for what is due go through the index `record_retention`: its predicate and its
// expression stand in them word for word. Whether details are erased is a parameter there, as the planner would turn a
// literal into another condition, which no index has. States: 2 completed, 4 dead, 6 skipped, see `record-codes.ts`.

/** $1 class. False where another transaction holds it; given back with the transaction, also behind a pooler. */
export const TRY_LOCK_CLASS = `SELECT pg_try_advisory_xact_lock(738201, hashtext($1)) AS locked`

/** The clock and a time before it. $1 how long before, in ms. As text, so that no precision is lost. */
export const CUTOFF = `
SELECT (date_trunc('milliseconds', now()) - $1::float8 * interval '1 millisecond')::text AS cutoff`

/** Ids that are due, the longest due first. $1 class, $2 whether details are erased, $3 cutoff, $4 how many. */
export const FIND_DUE = `
SELECT id FROM record
WHERE class = $1 AND (details_erased_at IS NOT NULL) = $2::boolean AND ended_at <= $3::text::timestamptz
  AND (state = 2 OR state = 4 OR state = 6)
ORDER BY ended_at LIMIT $4::int`

/**
 * Erases details of records that still are as they were found. Their versions grow, so that whoever read one before can't
 * write the details back. Answers how many. $1 ids as JSON, ascending, $2 cutoff.
 */
export const ERASE_DETAILS = `
WITH erased AS (
  UPDATE record AS r
  SET payload = NULL, result = NULL, error = NULL, owner = NULL, version = r.version + 1,
      details_erased_at = date_trunc('milliseconds', now())
  FROM (SELECT value::uuid AS id FROM json_array_elements_text($1::text::json)) AS t
  WHERE r.id = t.id AND (r.state = 2 OR r.state = 4 OR r.state = 6) AND r.ended_at <= $2::text::timestamptz
    AND r.details_erased_at IS NULL
  RETURNING r.id
), attempts AS (
  UPDATE attempt AS a SET owner = NULL, error = NULL, result = NULL FROM erased WHERE a.record_id = erased.id
), late AS (
  UPDATE late_completion AS l SET result = NULL FROM erased WHERE l.record_id = erased.id
)
SELECT count(*)::int AS count FROM erased`

/**
 * Forgets records that still are as they were found, with all that is kept about them. Answers how many. $1 ids as JSON,
 * ascending, $2 cutoff.
 */
export const FORGET_KEYS = `
WITH forgotten AS (
  DELETE FROM record AS r
  USING (SELECT value::uuid AS id FROM json_array_elements_text($1::text::json)) AS t
  WHERE r.id = t.id AND (r.state = 2 OR r.state = 4 OR r.state = 6) AND r.ended_at <= $2::text::timestamptz
  RETURNING r.id
), attempts AS (
  DELETE FROM attempt AS a USING forgotten WHERE a.record_id = forgotten.id
), late AS (
  DELETE FROM late_completion AS l USING forgotten WHERE l.record_id = forgotten.id
), tallies AS (
  DELETE FROM duplicate_tally AS d USING forgotten WHERE d.record_id = forgotten.id
)
SELECT count(*)::int AS count FROM forgotten`

/** $1 class, $2 how many more were erased, $3 how many more were forgotten, $4 cutoff of the forgotten or null. */
export const NOTE_PROGRESS = `
INSERT INTO class_retention AS c (class, keys_complete_since, erased, forgotten)
VALUES ($1, $4::text::timestamptz, $2, $3)
ON CONFLICT (class) DO UPDATE
  SET keys_complete_since = greatest(c.keys_complete_since, EXCLUDED.keys_complete_since),
      erased = c.erased + EXCLUDED.erased, forgotten = c.forgotten + EXCLUDED.forgotten`

/** $1 [{class, took_ms}, …]. */
export const NOTE_RUN = `
INSERT INTO class_retention (class, ran_at, took_ms)
SELECT class, date_trunc('milliseconds', now()), took_ms
FROM json_to_recordset($1::text::json) AS r (class text, took_ms int)
ORDER BY class COLLATE "C"
ON CONFLICT (class) DO UPDATE SET ran_at = EXCLUDED.ran_at, took_ms = EXCLUDED.took_ms`

/**
 * $1 class. Where its newest era is a window's and a minute old, nobody grants in the ledger any more: no process goes by
 * policies older than 2 s, and no statement takes as long.
 */
export const RELEASE_LEDGER = `
UPDATE class_place AS p SET ledger_held = false
WHERE p.class = $1 AND p.ledger_held AND NOT EXISTS (SELECT FROM record AS r WHERE r.class = $1)
  AND (SELECT e.store = 2 AND e.since < now() - interval '60 seconds'
       FROM class_era AS e WHERE e.class = $1 ORDER BY e.since DESC LIMIT 1)
RETURNING p.class`

/** Every class that ever claimed. */
export const READ_CLASSES_SEEN = `SELECT DISTINCT class FROM class_seen ORDER BY class`

/** $1 class patterns, $2 consumer or null, $3 class to stay above or null, $4 how many. */
export const READ_PROGRESS = `
SELECT s.class, floor(extract(epoch FROM r.keys_complete_since) * 1000)::float8 AS keys_complete_since,
       floor(extract(epoch FROM r.ran_at) * 1000)::float8 AS ran_at, r.took_ms,
       coalesce(r.erased, 0)::float8 AS erased, coalesce(r.forgotten, 0)::float8 AS forgotten
FROM (
  SELECT DISTINCT class FROM class_seen
  WHERE class LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
    AND ($2::text IS NULL OR consumer = $2) AND ($3::text IS NULL OR class > $3)
  ORDER BY class LIMIT $4
) AS s
LEFT JOIN class_retention AS r ON r.class = s.class
ORDER BY s.class`

/** The clock, in ms since 1970. */
export const READ_CLOCK = `SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now`

/** $1 class, $2 whether details are erased, $3 and $4 from and to in ms since 1970, $5 how many are counted. */
export const COUNT_SETTLED = `
SELECT count(*)::float8 AS count FROM (
  SELECT FROM record
  WHERE class = $1 AND (details_erased_at IS NOT NULL) = $2::boolean
    AND ended_at > to_timestamp($3::float8 / 1000) AND ended_at <= to_timestamp($4::float8 / 1000)
    AND (state = 2 OR state = 4 OR state = 6)
  LIMIT $5::int
) AS due`

/** $1 class, $2 how many are counted. */
export const COUNT_RECORDS = `
SELECT count(*)::float8 AS count FROM (SELECT FROM record WHERE class = $1 LIMIT $2::int) AS standing`
