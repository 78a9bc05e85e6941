/** One stable code of a refused request. */
export type ErrorCodeEntry = {
  /** HTTP status it is sent with. */
  readonly status: number
  /** Short, the same for every occurrence. */
  readonly title: string
  /** What it means and what to do, as the docs page lists it. */
  readonly meaning: string
}

/** Every code a problem document can carry. Codes are never renamed. */
export const errorCodes = {
  invalid_json: {
    status: 400,
    title: 'The body is not valid JSON',
    meaning: 'Ill-formed UTF-8, a byte order mark, broken JSON, nesting over 64 levels, or a member named twice.',
  },
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    meaning: 'A field or parameter is missing, unknown or out of range; `errors` names each one.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor is not valid',
    meaning: 'Use `next_cursor` of the previous page unchanged, with the same filters.',
  },
  scope_too_wide: {
    status: 400,
    title: 'Name a class or a consumer',
    meaning: 'More pairs of consumer and class exist than one lookup probes; add `class` or `consumer`.',
  },
  unauthenticated: {
    status: 401,
    title: 'No valid credentials',
    meaning: 'Send `Authorization: Bearer rbk_…` with a key that exists, has not expired and was not revoked.',
  },
  forbidden: {
    status: 403,
    title: 'The key may not do this',
    meaning: 'The API key lacks the action, class or consumer; ask an admin for a key with that scope.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'No such route or object, or it lies outside the scope of the key.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists; `Allow` lists its methods.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    meaning: 'The head or body was not received in time; send it again.',
  },
  token_spent: {
    status: 409,
    title: 'The claim token was used before',
    meaning: 'This token already had an attempt of the record; claim again with a fresh token.',
  },
  stale_claim: {
    status: 409,
    title: 'The claim is no longer yours',
    meaning: 'Somebody else was granted, or an operator decided. Stop; the record was not changed.',
  },
  already_settled: {
    status: 409,
    title: 'The claim was settled otherwise',
    meaning: 'The token already completed, failed or released its claim; the first verb stands.',
  },
  result_conflict: {
    status: 409,
    title: 'Completed with another result',
    meaning: 'The token already completed its claim with a different result; the first one is kept.',
  },
  not_resolvable: {
    status: 409,
    title: 'The record can not be resolved now',
    meaning:
      'Only held, failed, dead and ready records are decided, and claimed ones with `end_live_claim`. What a replay armed is put back by cancelling the replay.',
  },
  replay_conflict: {
    status: 409,
    title: 'The replay does not stand so',
    meaning: 'Its state does not allow this, or `replay_id` names another replay; `detail` says which.',
  },
  precondition_failed: {
    status: 412,
    title: 'It was changed meanwhile',
    meaning: '`If-Match` names an older version; read it again and repeat the change.',
  },
  payload_too_large: {
    status: 413,
    title: 'The request is too large',
    meaning: 'Body, payload or result exceed their limits; store the data elsewhere and send a reference.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Send JSON',
    meaning: 'Requests with a body need `Content-Type: application/json`.',
  },
  invalid_policy: {
    status: 422,
    title: 'The policy contradicts itself',
    meaning: 'Two fields exclude each other; the detail names both.',
  },
  retention_below_horizon: {
    status: 422,
    title: 'A key is forgotten too early',
    meaning: 'The source may still redeliver it then; keep it longer, or send `accept_short_retention: true`.',
  },
  horizon_required: {
    status: 422,
    title: 'Say how long the source may redeliver',
    meaning: 'The source has no fixed horizon; give `source_horizon_ms` where keys are forgotten.',
  },
  not_available: {
    status: 422,
    title: 'Not available in this version',
    meaning: 'The value is part of the protocol but this version does not serve it yet.',
  },
  seq_required: {
    status: 422,
    title: 'The class orders by sequence number',
    meaning: 'Send `source` and `seq` with the claim.',
  },
  target_refused: {
    status: 422,
    title: 'Nothing may be sent there',
    meaning:
      'The address of the target is not an http or https one that this installation may send to; `detail` says why.',
  },
  overloaded: {
    status: 503,
    title: 'Too much at once',
    meaning: 'A queue is full; repeat after `Retry-After`, claims with the same token.',
  },
  store_unavailable: {
    status: 503,
    title: 'The database can not be reached',
    meaning: 'The outcome is unknown; repeat after `Retry-After`, claims with the same token.',
  },
  storage_full: {
    status: 503,
    title: 'The database has no space left',
    meaning: 'Nothing was written; free space, then repeat.',
  },
  window_unavailable: {
    status: 503,
    title: 'The window can not be asked',
    meaning:
      'Redis does not answer, and the class says not to guess; repeat after `Retry-After`, claims with the same token.',
  },
  class_moving: {
    status: 503,
    title: 'The class changes its store',
    meaning:
      'For ten seconds keys that the older store does not know are refused; repeat after `Retry-After`, claims with the same token.',
  },
  policies_stale: {
    status: 503,
    title: 'Policies could not be read',
    meaning: 'This process has not read the policies for over 2 s and does not guess; repeat after `Retry-After`.',
  },
  draining: {
    status: 503,
    title: 'Shutting down',
    meaning: 'This process is draining; repeat, another one will answer.',
  },
  identity_collision: {
    status: 500,
    title: 'Two identities share one digest',
    meaning: 'The stored key is not the one asked for. Nothing was changed; report it to the operators at once.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    meaning: 'A fault of the service; the log has the request id.',
  },
} as const satisfies Record<string, ErrorCodeEntry>

export type ErrorCode = keyof typeof errorCodes
