// What sessions start with. A pooler refuses or ignores them, see `probeServer`.

/** No statement of ours takes this long: past it the connection is taken for lost, whatever the server says. */
export const lostAfterMs = 4000

const own = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  // Stronger settings (remote_apply) wait longer for the same promise.
  synchronous_commit: 'on',
  idle_in_transaction_session_timeout: 5000,
}

/**
 * Claims and settles. Plans must not depend on statistics: the planner is left nothing but ways by index, and keeps the
 * plan it made first. The limits lie below `lostAfterMs`, so that a statement is over on the server before it is given up.
 */
export const hotSettings: Readonly<Record<string, string | number>> = {
  ...own,
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  statement_timeout: 3000,
  lock_timeout: 2000,
}

/** What people and jobs read and write. */
export const coldSettings: Readonly<Record<string, string | number>> = {
  ...own,
  jit: 'off',
  statement_timeout: 2000,
  lock_timeout: 1000,
}
