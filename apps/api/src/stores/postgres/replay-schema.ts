import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytewiseText, jsonText, time } from './column-types.ts'

/** Replays: what was asked for, and how far it is. */
export const replay = pgTable(
  'replay',
  {
    id: uuid('id').primaryKey(),
    createdAt: time('created_at').notNull(),
    /** Of the step that ran last: replays take turns. */
    steppedAt: time('stepped_at'),
    endedAt: time('ended_at'),
    /** Place of the record met last. */
    place: bigint('place', { mode: 'number' }).notNull(),
    /** Of a cancelled one, place of the record that was looked at last. */
    putBackPlace: bigint('put_back_place', { mode: 'number' }).notNull(),
    armed: bigint('armed', { mode: 'number' }).notNull(),
    leftOut: bigint('left_out', { mode: 'number' }).notNull(),
    putBack: bigint('put_back', { mode: 'number' }).notNull(),
    count: bigint('count', { mode: 'number' }).notNull(),
    mayRunAgain: bigint('may_run_again', { mode: 'number' }).notNull(),
    more: boolean('more').notNull(),
    /** Nothing is left to meet: pushes alone may be pending. */
    allMet: boolean('all_met').notNull().default(false),
    pushed: bigint('pushed', { mode: 'number' }).notNull().default(0),
    pushFailed: bigint('push_failed', { mode: 'number' }).notNull().default(0),
    needsApproval: boolean('needs_approval').notNull(),
    /** Where a filter goes on: the record met last. */
    afterTime: time('after_time'),
    afterId: uuid('after_id'),
    state: bytewiseText('state').notNull(),
    delivery: bytewiseText('delivery').notNull(),
    idempotency: bytewiseText('idempotency').notNull(),
    createdBy: bytewiseText('created_by').notNull(),
    approvedBy: bytewiseText('approved_by'),
    reason: text('reason').notNull(),
    error: text('error'),
    selection: jsonText('selection').notNull(),
    scope: jsonText('scope').notNull(),
  },
  (table) => [
    index('replay_page').on(table.createdAt, table.id),
    index('replay_open').on(table.steppedAt).where(sql`state = 'running' OR state = 'cancelling'`),
    check(
      'replay_state_known',
      sql`state IN ('awaiting_approval', 'running', 'paused', 'finished', 'cancelling', 'cancelled', 'failed')`,
    ),
  ],
)

/** What a replay has to post, or has posted, for the record that it met in that place. */
export const replayPush = pgTable(
  'replay_push',
  {
    replayId: uuid('replay_id').notNull(),
    place: bigint('place', { mode: 'number' }).notNull(),
    firstTriedAt: time('first_tried_at'),
    /** Also how long whoever is at it now may take: a process that was killed is followed by another. */
    nextTryAt: time('next_try_at').notNull(),
    tries: integer('tries').notNull(),
    recordId: bytewiseText('record_id').notNull(),
    state: bytewiseText('state').notNull(),
    error: text('error'),
  },
  (table) => [
    primaryKey({ name: 'replay_push_pkey', columns: [table.replayId, table.place] }),
    index('replay_push_due').on(table.nextTryAt).where(sql`state = 'pending'`),
    index('replay_push_pending').on(table.replayId).where(sql`state = 'pending'`),
    check('replay_push_state_known', sql`state IN ('pending', 'delivered', 'failed', 'not_needed')`),
  ],
)

/** What became of each record that a replay met. */
export const replayItem = pgTable(
  'replay_item',
  {
    replayId: uuid('replay_id').notNull(),
    place: bigint('place', { mode: 'number' }).notNull(),
    at: time('at').notNull(),
    recordId: bytewiseText('record_id').notNull(),
    outcome: bytewiseText('outcome').notNull(),
  },
  (table) => [
    primaryKey({ name: 'replay_item_pkey', columns: [table.replayId, table.place] }),
    index('replay_item_record').on(table.recordId, table.at),
  ],
)
