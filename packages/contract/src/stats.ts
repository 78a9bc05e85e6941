import { z } from 'zod'
import { classField, timeField } from './text-fields.ts'

/** Counts are kept by the minute, for 30 days. */
export const statsLimits = {
  minuteMs: 60_000,
  keptMs: 2_592_000_000,
  /** A day by the minute is 1 440: more points than that no chart shows. */
  stepsMax: 2000,
  defaultSpanMs: 86_400_000,
  defaultStepMs: 3_600_000,
} as const

const stepFault = `must be a multiple of ${statsLimits.minuteMs} from ${statsLimits.minuteMs} to ${statsLimits.keptMs}, in milliseconds`

/** `GET /v1/stats`: what happened, step by step. */
export const statsQuery = z.strictObject({
  from: timeField.optional().meta({ description: 'The first step holds it; 24 hours before `to` unless given.' }),
  to: timeField.optional().meta({ description: 'The last step begins before it; now unless given.' }),
  step: z
    .string()
    .regex(/^\d{1,10}$/, { error: stepFault })
    .transform(Number)
    .refine((ms) => ms > 0 && ms <= statsLimits.keptMs && ms % statsLimits.minuteMs === 0, { error: stepFault })
    .optional()
    .meta({
      description: `Length of a step in milliseconds, a multiple of ${statsLimits.minuteMs}; an hour unless given. At most ${statsLimits.stepsMax} steps are answered.`,
    }),
  class: classField
    .optional()
    .meta({ description: 'This class alone; without it the sum over every class that the caller may read.' }),
})
export type StatsQuery = z.output<typeof statsQuery>

const runTimeField = z.int().meta({ description: 'Milliseconds.' })

/** One step. Steps begin at whole multiples of their length since 1970, so those of a day are days of UTC. */
export const statsStepSchema = z.strictObject({
  at: timeField.meta({ description: 'When the step begins.' }),
  claims: z.int().meta({ description: 'Claims that were granted, later attempts included.' }),
  duplicates: z.int().meta({ description: 'Deliveries answered `duplicate`.' }),
  completed: z.int().meta({ description: 'Attempts that their owners completed.' }),
  failed: z.int().meta({ description: 'Attempts that their owners reported as failed.' }),
  expired: z
    .int()
    .meta({ description: 'Leases that ran out unheard, counted where they ended once that was noticed.' }),
  held: z.int().meta({ description: 'Those of the expired ones that wait for a person now.' }),
  mismatches: z.int().meta({ description: 'Deliveries answered `mismatch`.' }),
  run_ms: z.strictObject({ p50: runTimeField, p95: runTimeField, p99: runTimeField }).nullable().meta({
    description:
      'From claim to complete, of the attempts that completed; null where none did. Estimated from counts by powers of two of milliseconds: what took longer than 18 hours counts as about that.',
  }),
})
export type StatsStep = z.infer<typeof statsStepSchema>

/** Answer to `GET /v1/stats`, oldest step first, steps without any event included. Some seconds behind. */
export const statsSchema = z.strictObject({
  class: z.string().nullable().meta({ description: 'As asked; null: summed over all that the caller may read.' }),
  step_ms: z.int(),
  data: z.array(statsStepSchema),
})
export type StatsView = z.infer<typeof statsSchema>
