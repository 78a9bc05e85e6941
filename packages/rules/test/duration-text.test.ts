import { expect, test } from 'vitest'
import { durationText } from '../src/duration-text.ts'

test.each([
  [86_400_000, '24 h'],
  [3_600_000, '1 h'],
  [30 * 86_400_000, '30 d'],
  [36 * 3_600_000, '36 h'],
  [90 * 60_000, '90 min'],
  [15_000, '15 s'],
  [1500, '1500 ms'],
])('%i ms reads as %s, exactly', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})
