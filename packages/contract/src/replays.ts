import { z } from 'zod'
import { pageFields, pageOf } from './page.ts'
import { claimTokenField, classField, keyField, nameField, reasonField, timeField } from './text-fields.ts'

/** Where a replay stands. `cancelling` puts back what nobody has taken up; `failed` tells why in `error`. */
export const replayStates = [
  'awaiting_approval',
  'running',
  'paused',
  'finished',
  'cancelling',
  'cancelled',
  'failed',
] as const
export type ReplayState = (typeof replayStates)[number]

/** States of records that a replay can arm. */
export const replayableStates = ['completed', 'failed', 'dead', 'held', 'skipped'] as const

/**
 * Why a replay leaves a record out. `forgotten`: none stands, or none that the caller may see. `payload_erased`: there is
 * none to push, erased or never kept. `no_target`: its class has no `replay_target`.
 */
export const leftOutReasons = [
  'running',
  'already_ready',
  'window_class',
  'payload_erased',
  'no_target',
  'superseded',
  'forgotten',
] as const
export type LeftOutReason = (typeof leftOutReasons)[number]

/**
 * What became of a record. `pushed` and `push_failed`: armed, and posted or given up. `put_back`: armed, and taken back by
 * cancelling before anybody took it up.
 */
export const replayOutcomes = ['armed', 'pushed', 'push_failed', 'put_back', ...leftOutReasons] as const
export type ReplayOutcome = (typeof replayOutcomes)[number]

/** Which records: as the list of records filters them, those claimed first before the replay was asked for. */
export const replayFilterField = z
  .strictObject({
    class: classField.optional(),
    consumer: nameField.optional(),
    state: z.enum(replayableStates).optional(),
    key_prefix: keyField.optional(),
    ref: nameField.optional(),
    source: nameField.optional(),
    from: timeField.optional(),
    to: timeField.optional(),
  })
  .refine((filter) => Object.keys(filter).length > 0, {
    error: 'must name at least one field: a replay of everything is never meant',
  })

/** `POST /v1/replays`: `record_ids` or `filter`, not both. */
export const replayCreateSchema = z
  .strictObject({
    record_ids: z.array(z.string().min(1).max(64)).min(1).max(1000).optional(),
    filter: replayFilterField.optional(),
    reason: reasonField,
    delivery: z.enum(['rearm', 'push']),
    idempotency: z.enum(['same', 'new']),
    replay_id: claimTokenField.optional().meta({ description: 'A UUID: the same request again is the same replay.' }),
    dry_run: z.boolean().optional(),
  })
  .refine((given) => (given.record_ids === undefined) !== (given.filter === undefined), {
    error: 'give either record_ids or filter',
    path: ['record_ids'],
  })
export type ReplayCreate = z.output<typeof replayCreateSchema>

/** `POST /v1/replays/{id}/approve`, `/pause`, `/resume` and `/cancel`. */
export const replayDecisionSchema = z.strictObject({ reason: reasonField.optional() })

const counts = {
  count: z.int().meta({ description: 'Records that would be armed now.' }),
  more: z.boolean().meta({ description: 'Counting ended at its time limit: there are more.' }),
  may_run_again: z.int().meta({
    description: 'Of these, records settled so long ago that downstream may have forgotten the idempotency key.',
  }),
}

/** A record as samples show it. */
const sampledRecordSchema = z.strictObject({
  id: z.string(),
  class: z.string().nullable(),
  consumer: z.string().nullable(),
  key: z.string().nullable(),
  state: z.string().nullable(),
})

/** Answer to a dry run. Nothing was changed. */
export const replayDryRunSchema = z.strictObject({
  ...counts,
  needs_approval: z.boolean().meta({ description: 'A class asks for the approval of a second person.' }),
  sample: z.array(sampledRecordSchema),
  left_out: z.array(
    z.strictObject({ reason: z.enum(leftOutReasons), count: z.int(), sample: z.array(sampledRecordSchema) }),
  ),
})
export type ReplayDryRun = z.infer<typeof replayDryRunSchema>

/** A replay and how far it is. */
export const replaySchema = z.strictObject({
  id: z.string(),
  state: z.enum(replayStates),
  reason: z.string(),
  delivery: z.enum(['rearm', 'push']),
  idempotency: z.enum(['same', 'new']),
  record_ids: z.array(z.string()).nullable(),
  filter: replayFilterField.nullable(),
  created_at: timeField,
  created_by: z.string(),
  approved_by: z.string().nullable(),
  ...counts,
  armed: z.int().meta({ description: 'So far; those put back later are among them.' }),
  left_out: z.int(),
  put_back: z.int(),
  pushed: z.int(),
  push_failed: z.int(),
  ended_at: timeField.nullable(),
  error: z.string().nullable(),
})
export type ReplayDocument = z.infer<typeof replaySchema>

/** `GET /v1/replays`: newest first. */
export const replayListQuery = z.strictObject({ state: z.enum(replayStates).optional(), ...pageFields })
export const replayListSchema = pageOf(replaySchema)

/** `GET /v1/replays/{id}`: a page of its records, in the order in which they were met. */
export const replayItemsQuery = z.strictObject(pageFields)

/** Answer to `GET /v1/replays/{id}`. */
export const replayFileSchema = replaySchema.extend({
  records: pageOf(z.strictObject({ record_id: z.string(), outcome: z.enum(replayOutcomes), at: timeField })),
})
export type ReplayFile = z.infer<typeof replayFileSchema>
