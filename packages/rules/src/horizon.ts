import type { Policy } from '@ranbook/contract'
import { durationText } from './duration-text.ts'
import { findPreset } from './presets.ts'

/** A retention that ends before the source has stopped redelivering. Durations in ms. */
export type ShortRetention = {
  /** `automatic`: the source itself may redeliver later; `manual`: a person may have it done. */
  kind: 'automatic' | 'manual'
  horizonMs: number
  retentionMs: number
  /** Names both, and what may happen. */
  sentence: string
}

/**
 * How long a policy's keys are remembered, in ms; null: for ever. Details are no matter here: a key whose details are
 * erased still dedupes.
 */
function retentionOf(policy: Policy): { field: 'window_ms' | 'key_retention_ms'; ms: number } | null {
  if (policy.store === 'window') return { field: 'window_ms', ms: policy.window_ms }
  return policy.key_retention_ms === null ? null : { field: 'key_retention_ms', ms: policy.key_retention_ms }
}

/**
 * Is a key forgotten while its source may still redeliver it? Null where it is not, or where no source is named. A
 * horizon that the policy names itself stands for the preset's. Retention counts from the settlement, which is later than
 * the sending a horizon counts from; so as long as the horizon is enough.
 */
export function shortRetention(policy: Policy): ShortRetention | null {
  const retention = retentionOf(policy)
  if (retention === null) return null
  const preset = policy.source_preset === null ? null : findPreset(policy.source_preset)
  const source = preset?.title ?? 'The source'
  const remembered = `${retention.field} remembers a key for ${durationText(retention.ms)}`
  const automaticMs = policy.source_horizon_ms ?? preset?.automatic_horizon_ms ?? 0
  if (retention.ms < automaticMs) {
    return {
      kind: 'automatic',
      horizonMs: automaticMs,
      retentionMs: retention.ms,
      sentence: `${remembered}, but ${source} may redeliver for ${durationText(automaticMs)}: a late redelivery would run again.`,
    }
  }
  const manualMs = preset?.manual_horizon_ms ?? 0
  if (retention.ms < manualMs) {
    return {
      kind: 'manual',
      horizonMs: manualMs,
      retentionMs: retention.ms,
      sentence: `${remembered}, but events of ${source} can be sent again by hand for ${durationText(manualMs)}: one sent later would run again.`,
    }
  }
  return null
}

/** Does the policy forget keys of a source whose horizon nobody knows? Then `source_horizon_ms` has to say it. */
export function needsHorizon(policy: Policy): boolean {
  if (policy.source_preset === null || policy.source_horizon_ms !== null || retentionOf(policy) === null) return false
  const automatic = findPreset(policy.source_preset)?.automatic
  return automatic === 'unbounded' || automatic === 'unknown'
}
