import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, pgTable, primaryKey, smallint, uuid } from 'drizzle-orm/pg-core'
import { bytes, bytewiseText, time } from './column-types.ts'

// Tables of windows, retention and counts. What one row of them means is told where it is read and written.

/** Records of windows where no Redis is set, and those granted while it could not be asked. Gone once `expires_at` is over. */
export const windowCell = pgTable(
  'window_cell',
  {
    /** The 32 hex digits of the identity's digest. */
    id: uuid('id').primaryKey(),
    version: bigint('version', { mode: 'number' }).notNull(),
    fencingToken: bigint('fencing_token', { mode: 'number' }).notNull(),
    expiresAt: time('expires_at').notNull(),
    body: bytes('body').notNull(),
  },
  (table) => [index('window_cell_expiry').on(table.expiresAt)],
)

/** Which store a class was kept in since when, for classes that were seen; without a row: as its policy says, always. */
export const classEra = pgTable(
  'class_era',
  {
    class: bytewiseText('class').notNull(),
    since: time('since').notNull(),
    /** 1 ledger, 2 window. */
    store: smallint('store').notNull(),
    windowMs: bigint('window_ms', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ name: 'class_era_pkey', columns: [table.class, table.since] }),
    check('class_era_store_known', sql`store BETWEEN 1 AND 2`),
  ],
)

/** Until when each place may hold records of a class: an upper bound, raised before a grant is answered. */
export const classPlace = pgTable('class_place', {
  class: bytewiseText('class').primaryKey(),
  redisUntil: time('redis_until'),
  postgresUntil: time('postgres_until'),
  /** The ledger may hold records of it though its policy says window. */
  ledgerHeld: boolean('ledger_held').notNull().default(false),
})

/** Spans in which records of windows were lost or could not be asked. */
export const windowLoss = pgTable(
  'window_loss',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity({ name: 'window_loss_id' }),
    /** Null: every window class. */
    class: bytewiseText('class'),
    cause: bytewiseText('cause').notNull(),
    /** When all was last known to be there. */
    fromAt: time('from_at').notNull(),
    /** When the loss was noticed; of an outage its end, moved on while it lasts. */
    toAt: time('to_at').notNull(),
    /** Until then a key may be granted a second time. */
    untilAt: time('until_at').notNull(),
    detail: bytewiseText('detail'),
  },
  (table) => [
    index('window_loss_until').on(table.untilAt),
    check('window_loss_in_order', sql`from_at <= to_at AND to_at <= until_at`),
  ],
)

/** What retention did to a class. */
export const classRetention = pgTable('class_retention', {
  class: bytewiseText('class').primaryKey(),
  /** Keys that settled before it may be forgotten; null: none was. */
  keysCompleteSince: time('keys_complete_since'),
  ranAt: time('ran_at'),
  tookMs: integer('took_ms').notNull().default(0),
  /** Over all runs. */
  erased: bigint('erased', { mode: 'number' }).notNull().default(0),
  forgotten: bigint('forgotten', { mode: 'number' }).notNull().default(0),
})

/** What happened to a class in a minute, added up over all processes. */
export const classStat = pgTable(
  'class_stat',
  {
    minute: time('minute').notNull(),
    class: bytewiseText('class').notNull(),
    claims: integer('claims').notNull().default(0),
    duplicates: integer('duplicates').notNull().default(0),
    completed: integer('completed').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    expired: integer('expired').notNull().default(0),
    held: integer('held').notNull().default(0),
    mismatches: integer('mismatches').notNull().default(0),
    /** How many completed attempts took how long, by bucket. */
    runTimes: integer('run_times').array().notNull(),
  },
  (table) => [primaryKey({ name: 'class_stat_pkey', columns: [table.minute, table.class] })],
)

/** Deliveries answered `mismatch`, by record, for those who look after their producers. */
export const mismatchTally = pgTable(
  'mismatch_tally',
  {
    /** A record's public id: a window's record has none in the ledger. */
    recordId: bytewiseText('record_id').primaryKey(),
    class: bytewiseText('class').notNull(),
    consumer: bytewiseText('consumer').notNull(),
    key: bytewiseText('key').notNull(),
    count: bigint('count', { mode: 'number' }).notNull(),
    firstAt: time('first_at').notNull(),
    lastAt: time('last_at').notNull(),
  },
  (table) => [index('mismatch_tally_last').on(table.lastAt)],
)
