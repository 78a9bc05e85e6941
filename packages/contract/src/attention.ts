import { z } from 'zod'
import { resolutions } from './states.ts'
import { timeField } from './text-fields.ts'

/**
 * What a person should look at, the most urgent first:
 * `held` records wait for a decision; `dead` ones were given up in the last 30 days, by anybody but an operator;
 * `interrupted` (lease over) and `failed` (may be retried) ones were left alone for ten times their lease, at least ten
 * minutes; `ready` ones for an hour; `late_completion`: a complete of the last 7 days that came too late to count;
 * `mismatch`: a key of the last 24 hours that was used with another payload; `window_lost`: a span of the last 7 days,
 * or one that lasts, in which a window can't vouch for its keys; `store_warning`: how a store is set up or reached;
 * `short_retention`: a policy that forgets sooner than its source redelivers; `new_consumer`: first seen in the last 24
 * hours, on a class known longer than that; `unreviewed_class`: seen, without a policy of its own, looked at by nobody.
 */
export const attentionKinds = [
  'held',
  'dead',
  'late_completion',
  'interrupted',
  'failed',
  'ready',
  'mismatch',
  'window_lost',
  'store_warning',
  'short_retention',
  'new_consumer',
  'unreviewed_class',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

/** What can be done about an item: a decision of `resolve`, `review` of a class, or a better policy. */
export const attentionActions = [...resolutions, 'review', 'edit_policy'] as const
export type AttentionAction = (typeof attentionActions)[number]

/** One thing to look at. */
export const attentionItemSchema = z.strictObject({
  id: z.string().meta({ description: 'The same as long as it is the same thing.' }),
  kind: z.enum(attentionKinds),
  since: timeField,
  class: z.string().nullable().meta({ description: 'A class, or the name of a policy; null: of no one class.' }),
  record_id: z.string().nullable(),
  target: z.string().nullable().meta({ description: 'The consumer that is new, or what a store warning is about.' }),
  sentence: z.string().meta({ description: 'Fit for an incident channel; times in UTC.' }),
  actions: z.array(z.enum(attentionActions)).meta({
    description:
      'What can be done, by whoever may: decisions of `POST /v1/records/{id}/resolve` (with `end_live_claim` for interrupted ones), `POST /v1/classes/{name}/review`, `PUT /v1/classes/{name}`.',
  }),
})
export type AttentionItem = z.infer<typeof attentionItemSchema>

/**
 * Answer to `GET /v1/attention`: by kind in their order, the latest first, at most 100 of each. No pages: what is left
 * out shows once what stands before it is dealt with, and `GET /v1/records` lists every record of a state.
 */
export const attentionSchema = z.strictObject({
  checked_at: timeField,
  items: z.array(attentionItemSchema),
  counts: z
    .record(z.enum(attentionKinds), z.int())
    .meta({ description: 'Of every kind, those beyond the items shown included.' }),
  more: z.array(z.enum(attentionKinds)).meta({
    description: 'Kinds of which only the newest 5 000 candidates were looked at: there may be more than are counted.',
  }),
})
export type AttentionView = z.infer<typeof attentionSchema>
