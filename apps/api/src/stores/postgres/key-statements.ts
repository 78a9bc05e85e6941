// Statements about API keys. Cold. Times come out as milliseconds since 1970.

/** How often keys were made or revoked; 0 before the first time. */
export const KEY_REVISION = `
SELECT coalesce((SELECT value::text::float8 FROM setting WHERE name = 'api_key_revision'), 0) AS revision`

/**
 * Counts a change of keys and locks the count until the transaction ends, so that whoever sees a number sees its
 * change. First statement of every change.
 */
export const BUMP_KEY_REVISION = `
INSERT INTO setting (name, value, updated_at) VALUES ('api_key_revision', '1', date_trunc('milliseconds', now()))
ON CONFLICT (name) DO UPDATE
  SET value = to_json(setting.value::text::bigint + 1), updated_at = EXCLUDED.updated_at`

/** Keys not revoked and the revision they stand at, in one snapshot. */
export const READ_LIVE_KEYS = `
SELECT coalesce((SELECT value::text::float8 FROM setting WHERE name = 'api_key_revision'), 0) AS revision,
       coalesce((
         SELECT json_agg(k)::text
         FROM (SELECT id, name, encode(secret_sha256, 'hex') AS secret_sha256, scopes::text AS scopes,
                      floor(extract(epoch FROM created_at) * 1000)::float8 AS created_at, created_by,
                      floor(extract(epoch FROM expires_at) * 1000)::float8 AS expires_at,
                      floor(extract(epoch FROM last_used_at) * 1000)::float8 AS last_used_at,
                      NULL::float8 AS revoked_at
               FROM api_key WHERE revoked_at IS NULL) k
       ), '[]') AS keys`

/** Every key, newest first. */
export const LIST_KEYS = `
SELECT id, name, encode(secret_sha256, 'hex') AS secret_sha256, scopes::text AS scopes,
       floor(extract(epoch FROM created_at) * 1000)::float8 AS created_at, created_by,
       floor(extract(epoch FROM expires_at) * 1000)::float8 AS expires_at,
       floor(extract(epoch FROM last_used_at) * 1000)::float8 AS last_used_at,
       floor(extract(epoch FROM revoked_at) * 1000)::float8 AS revoked_at
FROM api_key ORDER BY created_at DESC, id`

/** $1 id. */
export const READ_KEY = `
SELECT id, name, encode(secret_sha256, 'hex') AS secret_sha256, scopes::text AS scopes,
       floor(extract(epoch FROM created_at) * 1000)::float8 AS created_at, created_by,
       floor(extract(epoch FROM expires_at) * 1000)::float8 AS expires_at,
       floor(extract(epoch FROM last_used_at) * 1000)::float8 AS last_used_at,
       floor(extract(epoch FROM revoked_at) * 1000)::float8 AS revoked_at
FROM api_key WHERE id = $1`

/** $1 id, $2 name, $3 digest of the key in hex, $4 scopes, $5 by, $6 expiry in ms or null. */
export const INSERT_KEY = `
INSERT INTO api_key (id, name, secret_sha256, scopes, created_at, created_by, expires_at)
VALUES ($1, $2, decode($3, 'hex'), $4::text::json, date_trunc('milliseconds', now()), $5, to_timestamp($6::float8 / 1000))`

/** $1 id. No row where it is absent or revoked already. */
export const REVOKE_KEY = `
UPDATE api_key SET revoked_at = date_trunc('milliseconds', now()) WHERE id = $1 AND revoked_at IS NULL
RETURNING id`

/** $1 [{id, at}, …], \`at\` in ms. Never moves a time back. */
export const NOTE_KEY_USE = `
UPDATE api_key k SET last_used_at = greatest(k.last_used_at, to_timestamp(u.at / 1000))
FROM json_to_recordset($1::text::json) AS u (id text, at float8)
WHERE k.id = u.id`
