import { z } from 'zod'
import { batchOf } from './batch.ts'
import { limits } from './limits.ts'
import { problemSchema } from './problem.ts'
import { recordSchema } from './record.ts'
import { claimTokenField, durationField, opaqueField, timeField } from './text-fields.ts'

const token = { claim_token: claimTokenField }

const errorField = z.strictObject({
  message: z.string({ error: 'must be a string' }).meta({ description: 'Cut at 8 KiB, with a mark.' }),
  code: z
    .string()
    .refine((code) => new TextEncoder().encode(code).length <= limits.errorCodeMaxBytes, {
      error: `must be at most ${limits.errorCodeMaxBytes} bytes in UTF-8`,
    })
    .optional(),
  detail: opaqueField.optional(),
})

/** The fields of each verb beside the record's id. */
const verbFields = {
  complete: { ...token, result: opaqueField.optional() },
  fail: {
    ...token,
    error: errorField,
    retryable: z.boolean().optional(),
    retry_after_ms: durationField(0, limits.retryAfterMaxMs).optional(),
  },
  extend: { ...token, lease_ms: durationField(limits.leaseMinMs, limits.leaseMaxMs).optional() },
  release: { ...token },
}

/** `POST /v1/claims/{id}/complete` */
export const completeRequestSchema = z.strictObject(verbFields.complete)
/** `POST /v1/claims/{id}/fail`: `retryable` is true and the policy's backoff decides when, unless said otherwise. */
export const failRequestSchema = z.strictObject(verbFields.fail)
/** `POST /v1/claims/{id}/extend`: without `lease_ms` the length fixed at the grant. */
export const extendRequestSchema = z.strictObject(verbFields.extend)
/** `POST /v1/claims/{id}/release` */
export const releaseRequestSchema = z.strictObject(verbFields.release)

const recordIdField = z.string().min(1).max(100)

/** One item of `POST /v1/settlements`. */
export const settlementItemSchema = z.discriminatedUnion('action', [
  z.strictObject({ id: recordIdField, action: z.literal('complete'), ...verbFields.complete }),
  z.strictObject({ id: recordIdField, action: z.literal('fail'), ...verbFields.fail }),
  z.strictObject({ id: recordIdField, action: z.literal('extend'), ...verbFields.extend }),
  z.strictObject({ id: recordIdField, action: z.literal('release'), ...verbFields.release }),
])
export type SettlementInput = z.output<typeof settlementItemSchema>

/** What the service first checks of `POST /v1/settlements`; the items are judged one by one, so that a bad one harms no other. */
export const settlementsEnvelopeSchema = z.strictObject({ settlements: batchOf(z.unknown()) })

/** `POST /v1/settlements`: items that name one record are applied in the order given. */
export const settlementsRequestSchema = z.strictObject({ settlements: batchOf(settlementItemSchema) })

/** Answer to extend. */
export const leaseSchema = z.strictObject({ lease_expires_at: timeField, lease_remaining_ms: z.int() })

/** Answers in the order of the request. */
export const settlementsResponseSchema = z.strictObject({
  results: z.array(
    z.union([
      z.strictObject({ ok: z.literal(true), record: recordSchema }),
      z.strictObject({ ok: z.literal(true), lease_expires_at: timeField, lease_remaining_ms: z.int() }),
      z.strictObject({ ok: z.literal(false), problem: problemSchema }),
    ]),
  ),
})
