import { z } from 'zod'
import { problemSchema } from './problem.ts'
import { recordFields } from './record.ts'
import { outcomes } from './states.ts'

/** The answer to a claim, in every outcome. */
export const decisionSchema = z.strictObject({
  outcome: z.enum(outcomes),
  ...recordFields,
  claim_token: z.string().nullable().meta({ description: 'Only on `claimed`, only to the claimant.' }),
  retry_after_ms: z.int().nullable(),
})
export type DecisionView = z.infer<typeof decisionSchema>

/** `POST /v1/claims/batch` answers in the order of the request. */
export const claimBatchResponseSchema = z.strictObject({
  decisions: z.array(
    z.union([decisionSchema, z.strictObject({ outcome: z.literal('error'), problem: problemSchema })]),
  ),
})
