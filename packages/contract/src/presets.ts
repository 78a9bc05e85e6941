import { z } from 'zod'

const duration = z.int().nullable()

/**
 * How long a source may redeliver by itself: `none` (it never does), `fixed`, `unbounded` (as its operator set it: the
 * number has to be given), `unknown` (not published).
 */
export const horizonKinds = ['none', 'fixed', 'unbounded', 'unknown'] as const

/** A source of events, and what is known of its redeliveries. */
export const presetSchema = z.strictObject({
  name: z.string().meta({ description: 'Goes into `source_preset` of a policy.' }),
  title: z.string(),
  dedup_id: z.string().meta({ description: 'What stays the same over redeliveries.' }),
  add_to_key: z.array(z.string()).meta({ description: 'What has to join it, so that no two events share a key.' }),
  automatic: z.enum(horizonKinds),
  automatic_horizon_ms: duration.meta({
    description: 'The longest time after which it redelivers by itself; null unless `automatic` is `fixed`.',
  }),
  manual_horizon_ms: duration.meta({
    description: 'The longest time after which a person can have it sent again; null: none is known.',
  }),
  suggested_retention_ms: duration,
  about: z.boolean().meta({ description: 'Figures that the vendor does not publish: say “about”.' }),
  note: z.string().nullable(),
})
export type Preset = z.infer<typeof presetSchema>

/** Answer to `GET /v1/presets` */
export const presetListSchema = z.strictObject({ data: z.array(presetSchema) })
