import { type PolicyInput, policySchema, presetListSchema } from '@ranbook/contract'
import { describe, expect, test } from 'vitest'
import { needsHorizon, shortRetention } from '../src/horizon.ts'
import { findPolicyFault, findRetentionFault } from '../src/policy.ts'
import { findPreset, presets } from '../src/presets.ts'

const dayMs = 86_400_000
const policy = (given: PolicyInput) => policySchema.parse(given)

describe('presets', () => {
  test('are what the contract says, each name once, and each names a horizon where it is fixed', () => {
    expect(presetListSchema.parse({ data: presets }).data).toHaveLength(presets.length)
    expect(new Set(presets.map(({ name }) => name)).size).toBe(presets.length)
    for (const { name, automatic, automatic_horizon_ms: horizonMs, suggested_retention_ms: suggestedMs } of presets) {
      expect([name, horizonMs !== null]).toEqual([name, automatic === 'fixed'])
      if (horizonMs !== null) expect(suggestedMs ?? 0, name).toBeGreaterThanOrEqual(horizonMs)
    }
  })

  test.each(presets)('$name is taken with the retention it suggests, and not flagged', ({ name, ...preset }) => {
    const retention = preset.suggested_retention_ms
    const horizon = preset.automatic === 'unknown' || preset.automatic === 'unbounded' ? 7 * dayMs : null
    const taken = policy({ source_preset: name, key_retention_ms: retention ?? horizon, source_horizon_ms: horizon })
    expect(findPolicyFault(taken)).toBeNull()
    expect(findRetentionFault(taken, false)).toBeNull()
    expect(shortRetention(taken)).toBeNull()
  })

  test('are found by their exact name alone', () => {
    expect(findPreset('stripe')?.title).toBe('Stripe webhooks')
    for (const name of ['Stripe', '', '__proto__', 'toString']) expect(findPreset(name)).toBeNull()
  })
})

describe('a retention', () => {
  test.each<[string, PolicyInput, ReturnType<typeof kind>]>([
    ['no source is named', { key_retention_ms: 1000 }, null],
    ['keys are kept for ever', { source_preset: 'stripe' }, null],
    ['details alone are erased', { source_preset: 'stripe', details_retention_ms: 1000 }, null],
    ['keys go a moment before the horizon', { source_preset: 'stripe', key_retention_ms: 3 * dayMs - 1 }, 'automatic'],
    ['keys go at the horizon', { source_preset: 'stripe', key_retention_ms: 3 * dayMs }, 'manual'],
    ['keys go at the manual horizon', { source_preset: 'stripe', key_retention_ms: 30 * dayMs }, null],
    ['a window is shorter', { source_preset: 'stripe', store: 'window' }, 'automatic'],
    ['a window is long enough', { source_preset: 'slack', store: 'window' }, null],
    [
      'a window’s key retention is no matter',
      { source_preset: 'slack', store: 'window', key_retention_ms: 1000 },
      null,
    ],
    ['a ledger’s window is no matter', { source_preset: 'slack', window_ms: 1000 }, null],
    [
      'a horizon of its own stands for the preset’s',
      { source_preset: 'stripe', key_retention_ms: 31 * dayMs, source_horizon_ms: 40 * dayMs },
      'automatic',
    ],
    ['a horizon is given without a preset', { key_retention_ms: dayMs, source_horizon_ms: dayMs + 1 }, 'automatic'],
  ])('is judged where %s', (_, given, expected) => {
    expect(kind(given)).toBe(expected)
  })

  test('below the horizon is told with both durations', () => {
    const short = shortRetention(policy({ source_preset: 'stripe', store: 'window' }))
    expect(short).toMatchObject({ horizonMs: 3 * dayMs, retentionMs: dayMs })
    expect(short?.sentence).toContain('24 h')
    expect(short?.sentence).toContain('3 d')
  })

  test('of a source without a fixed horizon needs one, unless nothing is forgotten', () => {
    expect(needsHorizon(policy({ source_preset: 'kafka' }))).toBe(false)
    expect(needsHorizon(policy({ source_preset: 'kafka', store: 'window' }))).toBe(true)
    expect(needsHorizon(policy({ source_preset: 'gitlab', key_retention_ms: dayMs }))).toBe(true)
    expect(needsHorizon(policy({ source_preset: 'gitlab', key_retention_ms: dayMs, source_horizon_ms: 1000 }))).toBe(
      false,
    )
    expect(needsHorizon(policy({ source_preset: 'github', key_retention_ms: dayMs }))).toBe(false)
  })

  test('is refused only below the automatic horizon, and not where that is accepted', () => {
    const short = policy({ source_preset: 'stripe', key_retention_ms: dayMs })
    expect(findRetentionFault(short, false)).toMatchObject({ code: 'retention_below_horizon' })
    expect(findRetentionFault(short, true)).toBeNull()
    expect(findRetentionFault(policy({ source_preset: 'stripe', key_retention_ms: 4 * dayMs }), false)).toBeNull()
    expect(findRetentionFault(policy({ source_preset: 'kafka', store: 'window' }), true)).toMatchObject({
      code: 'horizon_required',
    })
  })
})

function kind(given: PolicyInput): 'automatic' | 'manual' | null {
  return shortRetention(policy(given))?.kind ?? null
}
