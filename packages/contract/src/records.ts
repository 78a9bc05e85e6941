import { z } from 'zod'
import { pageFields, pageOf } from './page.ts'
import { attemptErrorSchema, recordSchema } from './record.ts'
import { replayOutcomes } from './replays.ts'
import { recordStates } from './states.ts'
import { classField, keyField, nameField, opaqueField, timeField } from './text-fields.ts'

/** `GET /v1/records`: all given filters hold; newest first. */
export const recordListQuery = z.strictObject({
  class: classField.optional(),
  consumer: nameField.optional(),
  state: z.enum(recordStates).optional().meta({ description: 'As shown: an overdue `hold` claim is held.' }),
  key_prefix: keyField.optional(),
  ref: nameField.optional(),
  source: nameField.optional(),
  from: timeField.optional().meta({ description: 'First claimed at or after.' }),
  to: timeField.optional().meta({ description: 'First claimed before.' }),
  ...pageFields,
})
export type RecordListQuery = z.output<typeof recordListQuery>

/** Suppressed deliveries of a record: at least this many, as a crash may lose the last second. */
export const duplicatesSchema = z.strictObject({ count: z.int(), first_at: timeField, last_at: timeField })
export type DuplicatesView = z.infer<typeof duplicatesSchema>

const detailFields = {
  refs: z.array(z.string()),
  source: z.string().nullable(),
  seq: z.string().nullable(),
  occurred_at: timeField.nullable(),
  duplicates: duplicatesSchema.nullable(),
}

/** A row of the list: the record without `result`, which may be large; `has_result` says whether there is one. */
export const recordRowSchema = recordSchema.omit({ result: true }).extend(detailFields)
export type RecordRow = z.infer<typeof recordRowSchema>

/** Answer to `GET /v1/records`. */
export const recordListSchema = pageOf(recordRowSchema)

/** How an attempt ended: `expired` means its lease ran out and nothing was heard; null while it may still be running. */
export const attemptEnds = ['completed', 'failed', 'expired', 'released', 'decided'] as const

/** One granted claim. Its token is never shown. */
export const attemptSchema = z.strictObject({
  generation: z.int(),
  attempt: z.int(),
  fencing_token: z.int(),
  current: z.boolean().meta({ description: 'The attempt granted last: its owner may still be believed.' }),
  owner: z.string().nullable(),
  claimed_at: timeField,
  lease_expires_at: timeField.nullable(),
  ended_at: timeField.nullable(),
  end: z.enum(attemptEnds).nullable(),
  error: attemptErrorSchema.nullable(),
  has_result: z.boolean(),
  result: opaqueField,
})
export type AttemptView = z.infer<typeof attemptSchema>

/** A complete that came when the claim was no longer its sender's. Nothing was changed by it; the effect may have run. */
export const lateCompletionSchema = z.strictObject({
  at: timeField,
  generation: z.int().nullable(),
  attempt: z.int().nullable(),
  has_result: z.boolean(),
  result: opaqueField,
})

/** One line of the audit. `before` and `after` are what stood there, where that is short enough to read. */
export const auditEntrySchema = z.strictObject({
  id: z.string(),
  at: timeField,
  actor: z.string().meta({ description: '`key:<id>`, `user:<id>` or `system`.' }),
  action: z.string(),
  target: z.string(),
  reason: z.string().nullable(),
  before: opaqueField,
  after: opaqueField,
  request_id: z.string().nullable(),
})
export type AuditEntryView = z.infer<typeof auditEntrySchema>

/** Answer to `GET /v1/records/{id}`: the record and everything kept about it, oldest first. */
export const fullRecordSchema = recordSchema.extend({
  ...detailFields,
  has_payload: z.boolean().meta({ description: 'Tells an absent payload from `null`.' }),
  payload: opaqueField,
  attempts: z
    .array(attemptSchema)
    .meta({ description: 'Of every generation, the current one last; of those given back, the newest 1000.' }),
  late_completions: z.array(lateCompletionSchema),
  replays: z
    .array(
      z.strictObject({
        id: z.string(),
        reason: z.string(),
        delivery: z.enum(['rearm', 'push']),
        idempotency: z.enum(['same', 'new']),
        created_at: timeField,
        created_by: z.string(),
        outcome: z.enum(replayOutcomes),
        at: timeField,
      }),
    )
    .meta({ description: 'What replays made of it, the newest 100, oldest first.' }),
  audit: z.array(auditEntrySchema),
})
export type FullRecordView = z.infer<typeof fullRecordSchema>
