import { z } from 'zod'
import { type ErrorCode, errorCodes } from './error-codes.ts'
import { recordSchema } from './record.ts'

/** RFC 9457 problem document. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]),
  detail: z.string(),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  request_id: z.string(),
  current: recordSchema.optional().meta({
    description: 'How the record stands, never its token: with stale_claim and not_resolvable.',
  }),
})
export type Problem = z.infer<typeof problemSchema>
