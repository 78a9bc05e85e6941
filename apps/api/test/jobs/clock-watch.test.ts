import { expect, onTestFinished, test, vi } from 'vitest'
import { type ClockJump, startClockWatch } from '../../src/jobs/clock-watch.ts'

/** Runs a watch over readings of [process clock before, store clock, process clock after] and returns what it reported. */
async function watch(readings: readonly [number, number, number][]): Promise<ClockJump[]> {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const jumps: ClockJump[] = []
  const times = readings.flatMap(([before, , after]) => [before, after])
  const stores = readings.map(([, store]) => store)
  const job = startClockWatch({
    processNow: () => times.shift() ?? Number.NaN,
    storeNow: async () => stores.shift() ?? Number.NaN,
    jumped: (jump) => jumps.push(jump),
    failed: (error) => {
      throw error
    },
  })
  await vi.advanceTimersByTimeAsync(1000 * (readings.length - 1))
  expect(stores).toEqual([])
  await job.stop()
  return jumps
}

test('a store clock that is set forward or back by more than 5 s is reported with how far both clocks moved', async () => {
  const jumps = await watch([
    [0, 100_000, 0],
    [1000, 107_000, 1000],
    [2000, 102_000, 2000],
    [3000, 103_000, 3000],
  ])
  expect(jumps).toEqual([
    { storeClockMs: 7000, processMs: 1000 },
    { storeClockMs: -5000, processMs: 1000 },
  ])
})

test('clocks that run together are not reported, whatever their difference', async () => {
  expect(
    await watch([
      [0, 5_000_000, 0],
      [1000, 5_001_000, 1000],
      [61_000, 5_061_000, 61_000],
    ]),
  ).toEqual([])
})

test('a step of up to 5 s is not reported', async () => {
  expect(
    await watch([
      [0, 0, 0],
      [1000, 6000, 1000],
      [2000, 2000, 2000],
    ]),
  ).toEqual([])
})

test('an answer that took long is not mistaken for a jump', async () => {
  expect(
    await watch([
      [0, 0, 0],
      [1000, 1001, 60_000],
      [61_000, 61_000, 61_000],
    ]),
  ).toEqual([])
})
