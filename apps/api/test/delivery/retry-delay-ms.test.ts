import { expect, test } from 'vitest'
import { retryDelayMs } from '../../src/delivery/retry-delay-ms.ts'

test('a failed delivery is tried again after 1, 2, 4 … s, and every 5 min from the tenth try on', () => {
  const seconds = Array.from({ length: 12 }, (_, at) => (retryDelayMs(at + 1, 0, 0) ?? Number.NaN) / 1000)
  expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  expect(retryDelayMs(5000, 0, 0)).toBe(300_000)
})

test('jitter makes the wait of a delivery up to a fifth longer, never shorter', () => {
  expect(retryDelayMs(1, 0, 0.5)).toBe(1100)
  expect(retryDelayMs(20, 0, 0.999_999)).toBe(360_000)
})

test('24 h after the first try a delivery is given up, and not before', () => {
  expect(retryDelayMs(300, 86_400_000 - 300_000, 0)).toBe(300_000)
  expect(retryDelayMs(300, 86_400_000 - 299_999, 0)).toBeNull()
  let elapsedMs = 0
  let tries = 1
  for (let delay = retryDelayMs(tries, elapsedMs, 0); delay !== null; delay = retryDelayMs(tries, elapsedMs, 0)) {
    elapsedMs += delay
    tries += 1
  }
  expect(elapsedMs).toBeGreaterThan(86_400_000 - 300_000)
  expect(tries).toBe(296)
})
