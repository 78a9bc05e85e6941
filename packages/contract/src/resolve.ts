import { z } from 'zod'
import { resolutions } from './states.ts'
import { opaqueField, reasonField } from './text-fields.ts'

/** `POST /v1/records/{id}/resolve`. `result` belongs to `completed` only. */
export const resolveRequestSchema = z.strictObject({
  decision: z.enum(resolutions),
  reason: reasonField,
  result: opaqueField.optional(),
  end_live_claim: z.boolean().optional().meta({ description: 'Needed to decide about a record whose lease is live.' }),
})
export type ResolveInput = z.output<typeof resolveRequestSchema>
