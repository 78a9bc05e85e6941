import { sql } from 'drizzle-orm'
import {
  bigint,
  check,
  index,
  integer,
  pgSequence,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytes, bytewiseText, bytewiseTextArray, jsonText, time } from './column-types.ts'

// What drizzle can't say stands in the first migration by hand: storage settings, the audit's trigger, and the row that
// says when the ledger began. Numbers of states and causes are those of `record-codes.ts`.

/**
 * One number per grant, over all records. CACHE 1: with more, a session would hand out numbers that are lower than
 * those another session granted meanwhile. Below 2^53, so that JavaScript keeps every one exactly.
 */
export const fencingToken = pgSequence('fencing_token', {
  startWith: 1,
  increment: 1,
  minValue: 1,
  maxValue: '9007199254740991',
  cache: 1,
})

/**
 * The ledger: one row per identity, the current attempt within it. Columns stand in an order that pads little. Its
 * primary key is the distribution key of a distributed Postgres: every hot statement names it.
 */
export const record = pgTable(
  'record',
  {
    /** The 32 hex digits of the identity's digest. */
    id: uuid('id').primaryKey(),
    claimToken: uuid('claim_token').notNull(),
    fencingToken: bigint('fencing_token', { mode: 'number' }).notNull(),
    firstClaimedAt: time('first_claimed_at').notNull(),
    claimedAt: time('claimed_at').notNull(),
    leaseExpiresAt: time('lease_expires_at'),
    sweepAt: time('sweep_at'),
    endedAt: time('ended_at'),
    availableAt: time('available_at'),
    seq: bigint('seq', { mode: 'bigint' }),
    occurredAt: time('occurred_at'),
    detailsErasedAt: time('details_erased_at'),
    version: integer('version').notNull(),
    generation: integer('generation').notNull(),
    attempt: integer('attempt').notNull(),
    leaseMs: integer('lease_ms').notNull(),
    state: smallint('state').notNull(),
    cause: smallint('cause'),
    onLeaseExpiry: smallint('on_lease_expiry').notNull(),
    fingerprintKind: smallint('fingerprint_kind'),
    class: bytewiseText('class').notNull(),
    consumer: bytewiseText('consumer').notNull(),
    key: bytewiseText('key').notNull(),
    owner: bytewiseText('owner'),
    /** 32 bytes of SHA-256 where it was computed, the text in UTF-8 where it was given. */
    fingerprint: bytes('fingerprint'),
    source: bytewiseText('source'),
    refs: bytewiseTextArray('refs'),
    error: jsonText('error'),
    result: jsonText('result'),
    payload: jsonText('payload'),
    /** What `LedgerRecord.replay` holds. */
    replay: jsonText('replay'),
  },
  (table) => [
    // The sweeper's. No hot statement can imply its predicate, so none can be planned over it by mistake.
    index('record_sweep').on(table.sweepAt).where(sql`sweep_at IS NOT NULL`),
    // Newest-first pages. Without the id: rows of one statement share their time and are then one entry of the index.
    index('record_page').on(table.firstClaimedAt),
    // The same of one class. 14 bytes a record, measured: one class's records of one time share an entry, too.
    index('record_class_page').on(table.class, table.firstClaimedAt),
    // Pages of every state but the two that nearly all records are in: completed, and claimed with the lease running.
    index('record_state_page')
      .on(table.state, table.firstClaimedAt)
      .where(sql`state > 2 OR (state = 1 AND sweep_at IS NULL)`),
    // The pruner's: settled records of a class by the end of their last attempt, those with details first.
    index('record_retention')
      .on(table.class, sql`(details_erased_at IS NOT NULL)`, table.endedAt)
      .where(sql`state = 2 OR state = 4 OR state = 6`),
    index('record_refs').using('gin', table.refs).where(sql`refs IS NOT NULL`),
    index('record_source').on(table.source, table.seq).where(sql`source IS NOT NULL`),
    // Few and short on purpose: each statement parses them anew, and a dozen cost it 100 µs.
    check(
      'record_runs_or_ended',
      sql`(ended_at IS NULL) = (lease_expires_at IS NOT NULL) AND (ended_at IS NULL) = (state = 1 OR state = 5)`,
    ),
    check('record_swept_while_claimed', sql`sweep_at IS NULL OR state = 1`),
    check('record_available_when_failed', sql`(available_at IS NOT NULL) = (state = 3)`),
    check(
      'record_cause_of_state',
      sql`(cause IS NOT NULL) = (state = 4 OR state = 7) OR (cause = 4 AND (state = 2 OR state = 6))`,
    ),
    check('record_fingerprint_has_kind', sql`(fingerprint IS NULL) = (fingerprint_kind IS NULL)`),
  ],
)

/** Attempts that a later grant displaced: their tokens stay spent, their history readable. Never changed. */
export const attempt = pgTable(
  'attempt',
  {
    recordId: uuid('record_id').notNull(),
    fencingToken: bigint('fencing_token', { mode: 'number' }).notNull(),
    claimToken: uuid('claim_token').notNull(),
    claimedAt: time('claimed_at').notNull(),
    leaseExpiresAt: time('lease_expires_at'),
    endedAt: time('ended_at'),
    generation: integer('generation').notNull(),
    attempt: integer('attempt').notNull(),
    ending: smallint('ending').notNull(),
    owner: bytewiseText('owner'),
    error: jsonText('error'),
    result: jsonText('result'),
  },
  (table) => [
    primaryKey({ name: 'attempt_pkey', columns: [table.recordId, table.fencingToken] }),
    // Whether a token is spent is asked with every read, of records with however many attempts; and no token has two.
    uniqueIndex('attempt_claim_token').on(table.recordId, table.claimToken),
    check('attempt_ending_known', sql`ending BETWEEN 1 AND 5`),
  ],
)

/** The first result that came too late for each token, for the timeline. */
export const lateCompletion = pgTable(
  'late_completion',
  {
    recordId: uuid('record_id').notNull(),
    claimToken: uuid('claim_token').notNull(),
    at: time('at').notNull(),
    result: jsonText('result'),
  },
  (table) => [
    primaryKey({ name: 'late_completion_pkey', columns: [table.recordId, table.claimToken] }),
    index('late_completion_at').on(table.at),
  ],
)

/** Deliveries answered `duplicate`. Apart from `record`, so that counting never touches, locks or bloats the row. */
export const duplicateTally = pgTable(
  'duplicate_tally',
  {
    recordId: uuid('record_id').primaryKey(),
    count: bigint('count', { mode: 'number' }).notNull(),
    firstAt: time('first_at').notNull(),
    lastAt: time('last_at').notNull(),
  },
  () => [check('duplicate_tally_counts', sql`count >= 1`), check('duplicate_tally_in_order', sql`first_at <= last_at`)],
)

/** Who did what and why. Append-only: a trigger refuses UPDATE, DELETE and TRUNCATE. */
export const audit = pgTable(
  'audit',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity({ name: 'audit_id' }),
    at: time('at').notNull().default(sql`date_trunc('milliseconds', now())`),
    actor: bytewiseText('actor').notNull(),
    action: bytewiseText('action').notNull(),
    target: bytewiseText('target').notNull(),
    reason: text('reason'),
    before: jsonText('before'),
    after: jsonText('after'),
    requestId: bytewiseText('request_id'),
  },
  (table) => [index('audit_target').on(table.target, table.id)],
)

/** Policies in force, by exact name or pattern. */
export const classPolicy = pgTable('class_policy', {
  name: bytewiseText('name').primaryKey(),
  version: integer('version').notNull(),
  policy: jsonText('policy').notNull(),
  updatedAt: time('updated_at').notNull(),
  updatedBy: bytewiseText('updated_by').notNull(),
})

/** Every version a policy ever had; `policy` null where it was deleted. */
export const classPolicyHistory = pgTable(
  'class_policy_history',
  {
    name: bytewiseText('name').notNull(),
    version: integer('version').notNull(),
    policy: jsonText('policy'),
    diff: jsonText('diff').notNull(),
    at: time('at').notNull(),
    by: bytewiseText('by').notNull(),
    reason: text('reason'),
  },
  (table) => [primaryKey({ name: 'class_policy_history_pkey', columns: [table.name, table.version] })],
)

/** (class, consumer) pairs that ever claimed, so that a lookup by key alone can probe them all. */
export const classSeen = pgTable(
  'class_seen',
  {
    class: bytewiseText('class').notNull(),
    consumer: bytewiseText('consumer').notNull(),
    firstSeenAt: time('first_seen_at').notNull(),
  },
  (table) => [primaryKey({ name: 'class_seen_pkey', columns: [table.class, table.consumer] })],
)

/** Classes without an own policy that a person looked at and found fine. */
export const classReview = pgTable('class_review', {
  class: bytewiseText('class').primaryKey(),
  at: time('at').notNull(),
  by: bytewiseText('by').notNull(),
})

/** API keys; of the secret only its digest. */
export const apiKey = pgTable(
  'api_key',
  {
    id: bytewiseText('id').primaryKey(),
    name: text('name').notNull(),
    secretSha256: bytes('secret_sha256').notNull(),
    scopes: jsonText('scopes').notNull(),
    createdAt: time('created_at').notNull(),
    createdBy: bytewiseText('created_by').notNull(),
    expiresAt: time('expires_at'),
    lastUsedAt: time('last_used_at'),
    revokedAt: time('revoked_at'),
  },
  () => [check('api_key_secret_is_sha256', sql`octet_length(secret_sha256) = 32`)],
)

/** What the whole installation knows once. `ledger_began_at` is set by the first migration, as a JSON string. */
export const setting = pgTable('setting', {
  name: bytewiseText('name').primaryKey(),
  value: jsonText('value').notNull(),
  updatedAt: time('updated_at').notNull(),
})
