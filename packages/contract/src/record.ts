import { z } from 'zod'
import { reasons, recordStates } from './states.ts'
import { opaqueField, timeField } from './text-fields.ts'

/** Why an attempt failed, as the consumer said. `detail` is any JSON of at most 64 KiB. */
export const attemptErrorSchema = z.strictObject({
  message: z.string(),
  code: z.string().optional(),
  detail: opaqueField.optional(),
})

/** What every answer about a record says of it. Fields are null where they do not apply. */
export const recordFields = {
  id: z.string().meta({ description: 'Opaque; begins with rec_ (ledger).' }),
  class: z.string(),
  consumer: z.string(),
  key: z.string(),
  state: z.enum(recordStates).meta({ description: 'A `hold` claim whose lease is over is always shown as held.' }),
  generation: z.int(),
  attempt: z.int(),
  fencing_token: z.int().meta({ description: 'Grows with every grant of the key.' }),
  idempotency_key: z.string().meta({ description: 'For downstream APIs; the same over retries of a generation.' }),
  lease_expires_at: timeField.nullable(),
  lease_remaining_ms: z.int().nullable(),
  lease_over: z.boolean(),
  has_result: z.boolean(),
  result: opaqueField,
  error: attemptErrorSchema.nullable(),
  details_erased_at: timeField.nullable(),
  first_claimed_at: timeField,
  settled_at: timeField.nullable(),
  reason: z.enum(reasons).nullable(),
  skipped: z.boolean(),
  degraded: z.boolean(),
  replay: z
    .strictObject({ id: z.string(), reason: z.string(), idempotency: z.enum(['same', 'new']) })
    .nullable()
    .meta({ description: 'Set on a generation that a replay opened.' }),
}

/** A record as complete, fail, release and resolve answer it. */
export const recordSchema = z.strictObject({
  ...recordFields,
  owner: z.string().nullable(),
  claimed_at: timeField.nullable(),
  available_at: timeField.nullable().meta({ description: 'When a failed record may be claimed again.' }),
})
export type RecordView = z.infer<typeof recordSchema>
