import { expect, test } from 'vitest'
import { runTimeBucket, runTimeBuckets, runTimeQuantile } from '../src/run-times.ts'

test('every run time falls into one bucket, the longer the later, and none beyond the last', () => {
  const bounds = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    1000,
    60_000,
    2 ** 26 - 1,
    2 ** 26,
    2 ** 32,
    2 ** 33 + 1,
    Number.MAX_SAFE_INTEGER,
  ]
  expect(bounds.map(runTimeBucket)).toEqual([0, 1, 2, 2, 3, 3, 4, 10, 16, 26, 27, 27, 27, 27])
  expect(runTimeBucket(Number.MAX_SAFE_INTEGER)).toBe(runTimeBuckets - 1)
  // A clock that was set back.
  expect(runTimeBucket(-5)).toBe(0)
})

test('a quantile lies in the bucket of the run time that it stands for', () => {
  const times = Array.from({ length: 1000 }, (_, at) => Math.round(1.01 ** at))
  const counts: number[] = []
  for (const ms of times) counts[runTimeBucket(ms)] = (counts[runTimeBucket(ms)] ?? 0) + 1
  const all = Array.from(counts, (count) => count ?? 0)
  for (const share of [0.01, 0.5, 0.95, 0.99, 1]) {
    const exact = times[Math.ceil(share * times.length) - 1] ?? 0
    const found = runTimeQuantile(all, share) ?? Number.NaN
    expect(found / exact).toBeGreaterThanOrEqual(0.5)
    expect(found / exact).toBeLessThanOrEqual(2)
  }
})

test('what took no time at all is 0, and of nothing there is no quantile', () => {
  expect(runTimeQuantile([7], 0.99)).toBe(0)
  expect(runTimeQuantile([], 0.5)).toBeNull()
  expect(runTimeQuantile([0, 0], 0.5)).toBeNull()
})
