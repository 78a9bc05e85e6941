import { z } from 'zod'
import { batchOf } from './batch.ts'
import { limits } from './limits.ts'
import {
  claimTokenField,
  classField,
  durationField,
  keyField,
  nameField,
  opaqueField,
  seqField,
  timeField,
} from './text-fields.ts'

const givenFingerprint = nameField.meta({
  description: 'Compared with other given fingerprints of the key only; else one is computed from the payload.',
})

const claimFields = {
  class: classField,
  consumer: nameField.optional(),
  key: keyField,
  claim_token: claimTokenField.optional(),
  owner: nameField.optional(),
  lease_ms: durationField(limits.leaseMinMs, limits.leaseMaxMs).optional(),
  payload: opaqueField.optional(),
  fingerprint: givenFingerprint.optional(),
  refs: z.array(nameField).max(limits.refsMaxCount).optional(),
  source: nameField.optional(),
  seq: seqField.optional(),
  occurred_at: timeField.optional(),
}

/** One claim of a batch: as a single claim, without `wait_ms`. */
export const claimItemSchema = z.strictObject(claimFields)

/** `POST /v1/claims`. `wait_ms` 0 (the default) answers at once. */
export const claimRequestSchema = z.strictObject({
  ...claimFields,
  wait_ms: durationField(0, limits.waitMaxMs).optional(),
})
export type ClaimInput = z.output<typeof claimRequestSchema>

/** What the service first checks of `POST /v1/claims/batch`; the items are judged one by one, so that a bad one harms no other. */
export const claimBatchEnvelopeSchema = z.strictObject({ claims: batchOf(z.unknown()) })

/** `POST /v1/claims/batch` */
export const claimBatchRequestSchema = z.strictObject({ claims: batchOf(claimItemSchema) })
