import { z } from 'zod'
import { pageFields, pageOf } from './page.ts'
import { policyFields, policySchema } from './policy.ts'
import { reasonField, timeField } from './text-fields.ts'

/** Members of the answer of GET that may be sent back with PUT and are ignored there. */
const readOnlyFields = {
  name: z.unknown().optional(),
  version: z.unknown().optional(),
  updated_at: z.unknown().optional(),
  updated_by: z.unknown().optional(),
  matched: z.unknown().optional(),
  reviewed: z.unknown().optional(),
}

/** `PUT /v1/classes/{name}`: the whole policy; absent fields take their defaults, read-only ones of GET are ignored. */
export const classPutSchema = z
  .strictObject({
    ...policyFields,
    ...readOnlyFields,
    accept_short_retention: z.boolean().optional().meta({
      description: 'Take a retention below the horizon of the source, and keep it flagged.',
    }),
    reason: reasonField.optional(),
  })
  .transform(
    ({
      accept_short_retention,
      reason,
      name: _n,
      version: _v,
      updated_at: _a,
      updated_by: _b,
      matched: _m,
      reviewed: _r,
      ...policy
    }) => ({
      policy: policySchema.parse(policy),
      reason: reason ?? null,
      acceptShortRetention: accept_short_retention ?? false,
    }),
  )
export type ClassPut = z.output<typeof classPutSchema>

/** `DELETE /v1/classes/{name}?reason=…` */
export const classDeleteQuery = z.strictObject({ reason: reasonField.optional() })

/** `POST /v1/classes/{name}/review`; the body may be left out. */
export const classReviewSchema = z.strictObject({ reason: reasonField.optional() })

/** `GET /v1/classes` and `GET /v1/classes/{name}/history` */
export const classListQuery = z.strictObject(pageFields)

const policyViewFields = z
  .strictObject({
    ...policyFields,
    replay_target: z.strictObject({ url: z.string(), has_secret: z.boolean() }).nullable(),
  })
  .required().shape

/**
 * A class with the policy in force. Without an own policy `version`, `updated_at` and `updated_by` are null and
 * `matched` names the pattern whose policy it is, null for the built-in default.
 */
export const classSchema = z.strictObject({
  name: z.string(),
  version: z.int().nullable(),
  updated_at: timeField.nullable(),
  updated_by: z.string().nullable(),
  matched: z.string().nullable(),
  reviewed: z.boolean(),
  ...policyViewFields,
})
export type ClassDocument = z.infer<typeof classSchema>

/** A row of the list: classes seen in claims, and policies. */
export const classRowSchema = classSchema.extend({
  consumers: z.array(z.string()).meta({ description: 'Seen with this class; at most 100 are listed.' }),
  first_seen_at: timeField.nullable(),
})
export type ClassRow = z.infer<typeof classRowSchema>

/** Answer to `GET /v1/classes` */
export const classListSchema = pageOf(classRowSchema)

/** One change of a policy. `policy` null: it was deleted. `diff`: field → [before, after]. */
export const classChangeSchema = z.strictObject({
  version: z.int(),
  policy: z.record(z.string(), z.unknown()).nullable(),
  diff: z.record(z.string(), z.tuple([z.unknown(), z.unknown()])),
  at: timeField,
  by: z.string(),
  reason: z.string().nullable(),
})
export type ClassChange = z.infer<typeof classChangeSchema>

/** Answer to `GET /v1/classes/{name}/history`, newest first. */
export const classHistorySchema = pageOf(classChangeSchema)
