import { z } from 'zod'
import { type ErrorCode, errorCodes } from './error-codes.ts'

/** RFC 9457 problem document. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]),
  detail: z.string(),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  request_id: z.string(),
})
export type Problem = z.infer<typeof problemSchema>
