import { createLane, type Lane, type LaneOptions } from '../../src/stores/postgres/lane.ts'
import { createLanePool } from '../../src/stores/postgres/lane-pool.ts'
import type { PostgresTarget } from '../../src/stores/postgres/postgres-target.ts'
import { hotSettings, lostAfterMs } from '../../src/stores/postgres/session-settings.ts'

/** More than any test has statements at once, so that none waits for another. */
export const laneCount = 8

/** Connections as claims and settles have them, but for what is said otherwise. */
export function lanesOf(
  target: PostgresTarget,
  options: Partial<Omit<LaneOptions, 'target'>> = {},
): ReturnType<typeof createLanePool> {
  const lane = (): Lane =>
    createLane({ target, settings: hotSettings, named: true, deadlineMs: lostAfterMs, ...options })
  return createLanePool(Array.from({ length: laneCount }, lane))
}
