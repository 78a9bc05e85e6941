import { type Change, forgottenAt, type LedgerRecord, type NewRecord } from '@ranbook/rules'
import type { LedgerDeps } from './ledger-deps.ts'
import { type Bound, storeOf } from './windows.ts'

/**
 * `compareAndSet` where the records stand: all of `changes` in one place. What a window will remember longer than was
 * known is made known first.
 */
export async function change(
  deps: LedgerDeps,
  changes: readonly Change[],
): Promise<({ record: LedgerRecord } | null)[]> {
  const [first] = changes
  if (first === undefined) return []
  const bounds = changes.flatMap(({ record }): Bound[] => {
    const until = forgottenAt(record)
    return record.window === null || until === null ? [] : [{ class: record.class, place: record.window.place, until }]
  })
  if (bounds.length > 0) await deps.windows.cover(bounds)
  return storeOf(deps, first.record).compareAndSet(changes)
}

/** Until when the place of a first grant may hold its record. */
export function boundOfGrant({ request, leaseMs, window }: NewRecord, { windows }: LedgerDeps): Bound[] {
  return window === null
    ? []
    : [{ class: request.class, place: window.place, until: windows.storeNow() + leaseMs + window.ms }]
}
