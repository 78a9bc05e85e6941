// Statements about the audit, which only ever grows.

/** $1 actor, $2 action, $3 target, $4 reason, $5 before, $6 after, $7 request id. */
export const WRITE_AUDIT = `
INSERT INTO audit (actor, action, target, reason, before, after, request_id)
VALUES ($1, $2, $3, $4, $5::text::json, $6::text::json, $7)`

/** $1 target, $2 what the action begins with, $3 limit. The newest, oldest of them first. */
export const READ_AUDIT_ABOUT = `
SELECT id, at, actor, action, target, reason, before, after, request_id
FROM (
  SELECT id::float8 AS id, floor(extract(epoch FROM at) * 1000)::float8 AS at, actor, action, target, reason,
         before::text AS before, after::text AS after, request_id
  FROM audit
  WHERE target = $1 AND starts_with(action, $2)
  ORDER BY audit.id DESC LIMIT $3
) newest
ORDER BY id`
