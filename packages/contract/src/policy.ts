import { z } from 'zod'
import { limits } from './limits.ts'
import { leaseExpiryRules } from './states.ts'
import { durationField } from './text-fields.ts'
import { webhookSecretField } from './webhook-secret.ts'

const jsonPointer = z
  .string()
  .max(1024)
  .regex(/^(?:\/(?:[^~/]|~[01])*)*$/, { error: 'must be a JSON Pointer (RFC 6901), such as /order/id' })
const pointers = z.array(jsonPointer).min(1).max(64)

/** What a fingerprint covers: the whole payload, nothing, or the payload less or only some members. */
export const fingerprintRuleField = z.union([
  z.enum(['payload', 'off']),
  z.strictObject({ exclude: pointers }),
  z.strictObject({ include: pointers }),
])
export type FingerprintRule = z.infer<typeof fingerprintRuleField>

/** How long to wait after a failed attempt: `initial_ms * factor^(attempt - 1)`, at most `max_ms`, with full jitter. */
export const backoffField = z.strictObject({
  initial_ms: durationField(0, limits.backoffMaxMs).default(1000),
  factor: z.number().min(1).max(10).default(2),
  max_ms: durationField(0, limits.backoffMaxMs).default(300_000),
})

const nullableDuration = durationField(1000, Number.MAX_SAFE_INTEGER).nullable()

/**
 * The policy of an event class, as PUT takes and GET answers it. Absent fields take their defaults. Values whose part
 * is not built yet are refused by `findPolicyFault` of the rules, not here.
 */
export const policyFields = {
  store: z.enum(['ledger', 'window']).default('ledger'),
  lease_ms: durationField(limits.leaseMinMs, limits.leaseMaxMs).default(60_000),
  on_lease_expiry: z.enum(leaseExpiryRules).optional(),
  max_attempts: z.int().min(1).max(limits.attemptsMax).nullable().default(10),
  backoff: backoffField.default({ initial_ms: 1000, factor: 2, max_ms: 300_000 }),
  window_ms: durationField(1000, limits.windowMaxMs).default(86_400_000),
  window_outage: z.enum(['refuse', 'fall_back']).default('refuse'),
  details_retention_ms: nullableDuration.default(null),
  key_retention_ms: nullableDuration.default(null),
  source_preset: z.string().min(1).max(64).nullable().default(null),
  source_horizon_ms: nullableDuration.default(null),
  ordering: z.enum(['off', 'track', 'guard', 'wait']).default('off'),
  gap_timeout_ms: durationField(1000, limits.gapTimeoutMaxMs).default(60_000),
  fingerprint: fingerprintRuleField.default('payload'),
  store_payload: z.boolean().default(true),
  replay_target: z
    .strictObject({
      url: z.url().max(2048),
      secret: webhookSecretField
        .optional()
        .meta({ description: 'Never shown. Without it the one of the same url stays.' }),
      has_secret: z.unknown().optional().meta({ description: 'Ignored, so that what GET answers may be sent back.' }),
    })
    .transform(({ url, secret }) => (secret === undefined ? { url } : { url, secret }))
    .nullable()
    .default(null),
  replay_approval: z.enum(['none', 'second_person']).optional(),
  downstream_memory_ms: durationField(0, Number.MAX_SAFE_INTEGER).default(86_400_000),
  effects_cost_money: z.boolean().default(false),
}

/** A policy with every default filled in. `effects_cost_money` turns two defaults: `hold` and `second_person`. */
export const policySchema = z.strictObject(policyFields).transform((given) => ({
  ...given,
  on_lease_expiry: given.on_lease_expiry ?? (given.effects_cost_money ? ('hold' as const) : ('retry' as const)),
  replay_approval: given.replay_approval ?? (given.effects_cost_money ? ('second_person' as const) : ('none' as const)),
}))
export type Policy = z.output<typeof policySchema>
export type PolicyInput = z.input<typeof policySchema>
