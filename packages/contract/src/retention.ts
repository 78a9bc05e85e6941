import { z } from 'zod'
import { pageFields, pageOf } from './page.ts'
import { policyFields } from './policy.ts'
import { timeField } from './text-fields.ts'

/** `GET /v1/retention`; by class. */
export const retentionListQuery = z.strictObject(pageFields)

/** A count that ends at a bound. */
export const boundedCountSchema = z.strictObject({
  count: z.int(),
  more: z.boolean().meta({ description: 'There are more than were counted: read it as “at least”.' }),
})
export type BoundedCount = z.infer<typeof boundedCountSchema>

const { store, details_retention_ms, key_retention_ms } = z.strictObject(policyFields).required().shape

/** What retention does to a class seen in claims, and what it did so far. */
export const classRetentionSchema = z.strictObject({
  class: z.string(),
  store,
  details_retention_ms,
  key_retention_ms,
  keys_complete_since: timeField.nullable().meta({
    description: 'Keys that settled before it may be forgotten; null: none was.',
  }),
  last_run: z
    .strictObject({ at: timeField, took_ms: z.int().meta({ description: 'So far, where the run still goes on.' }) })
    .nullable(),
  erased: z.int().meta({ description: 'Records whose details were erased, over all runs.' }),
  forgotten: z.int().meta({ description: 'Keys that were forgotten, over all runs.' }),
  due: z.strictObject({
    details: boundedCountSchema.meta({ description: 'Records whose details the next run erases.' }),
    keys: boundedCountSchema.meta({ description: 'Keys that the next run forgets.' }),
  }),
})
export type ClassRetentionView = z.infer<typeof classRetentionSchema>

/** Answer to `GET /v1/retention` */
export const retentionListSchema = pageOf(classRetentionSchema)

/** A change of the store that a policy would bring about. */
export const policyMoveSchema = z.strictObject({
  from: store,
  to: store,
  classes: z.array(z.string()).meta({ description: 'Those that would move; at most 100 are listed.' }),
  sentence: z.string(),
})
export type PolicyMove = z.infer<typeof policyMoveSchema>

/**
 * Answer to `POST /v1/classes/{name}/preview`: what the policy would do to records that stand now. Of a pattern: to those
 * of every class that it would govern.
 */
export const policyPreviewSchema = z.strictObject({
  affected: boundedCountSchema.meta({ description: 'Records in the ledger of the classes that it would govern.' }),
  erased: boundedCountSchema.meta({ description: 'Records whose details it would erase, and the present policy not.' }),
  forgotten: boundedCountSchema.meta({ description: 'Keys that it would forget, and the present policy not.' }),
  move: policyMoveSchema.nullable(),
  warnings: z.array(z.string()).meta({ description: 'Sentences for whoever is about to put the policy.' }),
})
export type PolicyPreview = z.infer<typeof policyPreviewSchema>
