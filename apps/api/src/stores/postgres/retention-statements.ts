// Statements of retention. Those that look for what is due go through the index `record_retention`: its predicate and its
// expression stand in them word for word, and in a form that the planner keeps whether or not it knows the parameters.
// Those that change records reach them by id. States: 2 completed, 4 dead, 6 skipped; attempts: 2 failed, 5 decided; see
// `record-codes.ts`. Times are milliseconds since 1970.

/**
 * $1 class. `locked` false: another transaction holds it; it is given back with the transaction, also behind a pooler.
 * `worked_at`: when a batch or a run of this class was noted last.
 */
export const TRY_LOCK_CLASS = `
SELECT pg_try_advisory_xact_lock(738201, hashtext($1)) AS locked, floor(extract(epoch FROM now()) * 1000)::float8 AS now,
  (SELECT floor(extract(epoch FROM ran_at) * 1000)::float8 FROM class_retention WHERE class = $1) AS worked_at`

const due = (erased: 'TRUE' | 'FALSE'): string => `
SELECT id FROM record
WHERE class = $1 AND (details_erased_at IS NOT NULL) IS ${erased} AND ended_at <= to_timestamp($2::float8 / 1000)
  AND (state = 2 OR state = 4 OR state = 6)
ORDER BY ended_at LIMIT $3::int`

/** Ids that are due and have details, the longest due first. $1 class, $2 due until, $3 how many. */
export const FIND_DUE_WHOLE: string = due('FALSE')

/** The same of those whose details are erased. */
export const FIND_DUE_ERASED: string = due('TRUE')

/**
 * Erases details of records that still are as they were found. Their versions grow, so that whoever read one before can't
 * write the details back. Answers the ids. $1 ids as JSON, ascending, $2 due until.
 */
export const ERASE_DETAILS = `
UPDATE record AS r
SET payload = NULL, result = NULL, error = NULL, owner = NULL, version = r.version + 1,
    details_erased_at = date_trunc('milliseconds', now())
FROM (SELECT value::uuid AS id FROM json_array_elements_text($1::text::json)) AS t
WHERE r.id = t.id AND (r.state = 2 OR r.state = 4 OR r.state = 6) AND r.ended_at <= to_timestamp($2::float8 / 1000)
  AND r.details_erased_at IS NULL
RETURNING r.id`

/**
 * The same of what is kept about them. An attempt that failed before a person decided is told by its error from one that
 * nothing was heard of: without it, it says so itself. $1 ids as JSON.
 */
export const ERASE_TRACES = `
WITH t AS MATERIALIZED (
  SELECT value::uuid AS id FROM json_array_elements_text($1::text::json)
), attempts AS (
  UPDATE attempt AS a
  SET ending = CASE WHEN a.ending = 5 AND a.error IS NOT NULL THEN 2 ELSE a.ending END,
      owner = NULL, error = NULL, result = NULL
  FROM t WHERE a.record_id = t.id
)
UPDATE late_completion AS l SET result = NULL FROM t WHERE l.record_id = t.id`

/** Forgets records that still are as they were found. Answers the ids. $1 ids as JSON, ascending, $2 due until. */
export const FORGET_KEYS = `
DELETE FROM record AS r
USING (SELECT value::uuid AS id FROM json_array_elements_text($1::text::json)) AS t
WHERE r.id = t.id AND (r.state = 2 OR r.state = 4 OR r.state = 6) AND r.ended_at <= to_timestamp($2::float8 / 1000)
RETURNING r.id`

/** The same of what is kept about them. $1 ids as JSON. */
export const FORGET_TRACES = `
WITH t AS MATERIALIZED (
  SELECT value::uuid AS id FROM json_array_elements_text($1::text::json)
), attempts AS (
  DELETE FROM attempt AS a USING t WHERE a.record_id = t.id
), late AS (
  DELETE FROM late_completion AS l USING t WHERE l.record_id = t.id
)
DELETE FROM duplicate_tally AS d USING t WHERE d.record_id = t.id`

/**
 * $1 class, $2 how many more were erased, $3 how many more were forgotten, $4 until when they were due; null where none
 * was forgotten. Answers when.
 */
export const NOTE_PROGRESS = `
INSERT INTO class_retention AS c (class, keys_complete_since, ran_at, erased, forgotten)
VALUES ($1, to_timestamp($4::float8 / 1000), date_trunc('milliseconds', now()), $2, $3)
ON CONFLICT (class) DO UPDATE
  SET keys_complete_since = greatest(c.keys_complete_since, EXCLUDED.keys_complete_since), ran_at = EXCLUDED.ran_at,
      erased = c.erased + EXCLUDED.erased, forgotten = c.forgotten + EXCLUDED.forgotten
RETURNING floor(extract(epoch FROM ran_at) * 1000)::float8 AS worked_at`

/** $1 [{class, took_ms}, …]. Answers when. */
export const NOTE_RUN = `
INSERT INTO class_retention (class, ran_at, took_ms)
SELECT class, date_trunc('milliseconds', now()), took_ms
FROM json_to_recordset($1::text::json) AS r (class text, took_ms int)
ORDER BY class COLLATE "C"
ON CONFLICT (class) DO UPDATE SET ran_at = EXCLUDED.ran_at, took_ms = EXCLUDED.took_ms
RETURNING class, floor(extract(epoch FROM ran_at) * 1000)::float8 AS worked_at`

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

const settled = (erased: 'TRUE' | 'FALSE'): string => `
SELECT count(*)::float8 AS count FROM (
  SELECT FROM record
  WHERE class = $1 AND (details_erased_at IS NOT NULL) IS ${erased}
    AND ended_at > to_timestamp($2::float8 / 1000) AND ended_at <= to_timestamp($3::float8 / 1000)
    AND (state = 2 OR state = 4 OR state = 6)
  LIMIT $4::int
) AS due`

/** Settled records that have details. $1 class, $2 ended after, $3 and not after, $4 how many are counted. */
export const COUNT_WHOLE: string = settled('FALSE')

/** The same of those whose details are erased. */
export const COUNT_ERASED: string = settled('TRUE')

/** $1 class, $2 how many are counted. */
export const COUNT_RECORDS = `
SELECT count(*)::float8 AS count FROM (SELECT FROM record WHERE class = $1 LIMIT $2::int) AS standing`
