// Statements about counts by class and minute. Cold: one per process and flush, and what people read.
// Rows go in as one JSON text, times as milliseconds since 1970. Class patterns of a scope are those of `likePatterns`.

/**
 * Adds counts to what stands, run times bucket by bucket. $1 rows of {minute, class, claims, …, run_times}, none twice.
 * In one order, so that no two processes wait for each other.
 */
export const ADD_STATS = `
INSERT INTO class_stat AS s
  (minute, class, claims, duplicates, completed, failed, expired, held, mismatches, run_times)
SELECT to_timestamp(t.minute / 1000), t.class, t.claims, t.duplicates, t.completed, t.failed, t.expired, t.held,
       t.mismatches, t.run_times
FROM json_to_recordset($1::text::json) AS t (
  minute float8, class text, claims int, duplicates int, completed int, failed int, expired int, held int,
  mismatches int, run_times int[]
)
ORDER BY t.minute, t.class COLLATE "C"
ON CONFLICT (minute, class) DO UPDATE SET
  claims = s.claims + EXCLUDED.claims,
  duplicates = s.duplicates + EXCLUDED.duplicates,
  completed = s.completed + EXCLUDED.completed,
  failed = s.failed + EXCLUDED.failed,
  expired = s.expired + EXCLUDED.expired,
  held = s.held + EXCLUDED.held,
  mismatches = s.mismatches + EXCLUDED.mismatches,
  run_times = ARRAY(
    SELECT coalesce(b.stood, 0) + coalesce(b.came, 0)
    FROM unnest(s.run_times, EXCLUDED.run_times) WITH ORDINALITY AS b (stood, came, bucket)
    ORDER BY b.bucket
  )`

/**
 * $1 class patterns, $2 class or null, $3 from and $4 to in ms, $5 length of a step in ms. One row for each step with
 * counts. Buckets are summed by their place: taking the arrays apart row by row takes many times as long.
 */
export const READ_STATS = `
SELECT floor(extract(epoch FROM minute)::float8 * 1000 / $5::float8) * $5::float8 AS at,
       sum(claims)::float8 AS claims, sum(duplicates)::float8 AS duplicates, sum(completed)::float8 AS completed,
       sum(failed)::float8 AS failed, sum(expired)::float8 AS expired, sum(held)::float8 AS held,
       sum(mismatches)::float8 AS mismatches,
       array_to_json(ARRAY[
         sum(run_times[1]), sum(run_times[2]), sum(run_times[3]), sum(run_times[4]), sum(run_times[5]),
         sum(run_times[6]), sum(run_times[7]), sum(run_times[8]), sum(run_times[9]), sum(run_times[10]),
         sum(run_times[11]), sum(run_times[12]), sum(run_times[13]), sum(run_times[14]), sum(run_times[15]),
         sum(run_times[16]), sum(run_times[17]), sum(run_times[18]), sum(run_times[19]), sum(run_times[20]),
         sum(run_times[21]), sum(run_times[22]), sum(run_times[23]), sum(run_times[24]), sum(run_times[25]),
         sum(run_times[26]), sum(run_times[27]), sum(run_times[28])
       ])::text AS run_times
FROM class_stat
WHERE minute >= to_timestamp($3::float8 / 1000) AND minute < to_timestamp($4::float8 / 1000)
  AND class LIKE ANY (ARRAY(SELECT json_array_elements_text($1::text::json)))
  AND ($2::text IS NULL OR class = $2)
GROUP BY 1
ORDER BY 1`

/** $1 how far minutes may lie back in ms, $2 limit. The oldest first. */
export const FORGET_STATS = `
DELETE FROM class_stat AS s
USING (
  SELECT minute, class FROM class_stat
  WHERE minute < now() - $1::float8 * interval '1 millisecond'
  ORDER BY minute, class LIMIT $2
) AS due
WHERE s.minute = due.minute AND s.class = due.class`
