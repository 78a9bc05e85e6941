import type { Verdict } from '@ranbook/contract'
import { isLeaseLive, type LedgerRecord, visibleState } from './record.ts'

/** A verdict about a record that stands. */
export type RecordVerdict = Exclude<Verdict, 'never' | 'unknown'>

/**
 * Did this record's effect run? Pure. `completedBefore` counts the earlier generations that completed: where any did,
 * it ran, whatever the record does now.
 */
export function verdictOf(record: LedgerRecord, completedBefore: number, now: number): RecordVerdict {
  const state = visibleState(record, now)
  if (state === 'completed') {
    if (completedBefore > 0) return 'ran_again'
    return record.detailsErasedAt === null ? 'ran' : 'ran_details_erased'
  }
  if (completedBefore > 0) return completedBefore > 1 ? 'ran_again' : 'ran'
  switch (state) {
    case 'claimed':
      return isLeaseLive(record, now) ? 'running' : 'interrupted'
    case 'held':
      return 'held'
    case 'failed':
      return 'failed'
    case 'dead':
      return 'dead'
    case 'ready':
      return 'ready'
    case 'skipped':
      return 'skipped'
  }
}
