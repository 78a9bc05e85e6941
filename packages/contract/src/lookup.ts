import { z } from 'zod'
import { duplicatesSchema } from './records.ts'
import { recordStates, verdicts } from './states.ts'
import { classField, keyField, nameField, timeField } from './text-fields.ts'

/** `GET /v1/lookup`: "did this ever run?" */
export const lookupQuery = z.strictObject({
  q: keyField.meta({
    description: 'A key, a record id, an idempotency key with or without its label, a reference, or `source#seq`.',
  }),
  class: classField.optional(),
  consumer: nameField.optional(),
  at: timeField.optional().meta({ description: 'When the event occurred; without it: since this ledger began.' }),
})
export type LookupQuery = z.output<typeof lookupQuery>

/** What of a record the question named. */
export const lookupMatches = ['key', 'id', 'idempotency_key', 'reference', 'source_seq'] as const
export type LookupMatch = (typeof lookupMatches)[number]

/** What is known of one record, and whether its effect ran. */
export const lookupRecordSchema = z.strictObject({
  id: z.string(),
  class: z.string(),
  consumer: z.string(),
  key: z.string(),
  matched: z.enum(lookupMatches),
  state: z.enum(recordStates),
  verdict: z.enum(verdicts).exclude(['never', 'unknown']),
  sentence: z.string().meta({ description: 'Fit for an incident channel; times in UTC.' }),
  generation: z.int(),
  attempt: z.int(),
  first_claimed_at: timeField,
  claimed_at: timeField,
  lease_expires_at: timeField.nullable(),
  settled_at: timeField.nullable(),
  duplicates: duplicatesSchema.nullable(),
  late_completions: z
    .int()
    .meta({ description: 'Completes of earlier owners that came too late: it may have run more often.' }),
})
export type LookupRecordView = z.infer<typeof lookupRecordSchema>

/** How far back the ledger knows everything of a class; `note` says why it does not answer for the time asked. */
export const coverageSchema = z.strictObject({
  class: z.string(),
  store: z.enum(['ledger', 'window']),
  complete_since: timeField,
  note: z.string().nullable(),
})
export type CoverageView = z.infer<typeof coverageSchema>

/** Answer to a lookup. `more`: further records match than are listed. */
export const lookupResponseSchema = z.strictObject({
  verdict: z.enum(verdicts),
  sentence: z.string(),
  checked_at: timeField,
  records: z.array(lookupRecordSchema),
  more: z.boolean(),
  coverage: z.array(coverageSchema),
})
export type LookupView = z.infer<typeof lookupResponseSchema>
