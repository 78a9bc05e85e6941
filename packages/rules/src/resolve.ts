import type { Resolution } from '@ranbook/contract'
import type { AuditEntry } from './audit-entry.ts'
import type { Change } from './decide.ts'
import { isLeaseLive, type LedgerRecord, visibleState } from './record.ts'
import { completedFields } from './settle.ts'

/** An operator's decision about a record. `result` is JSON text and belongs to `completed`. */
export type ResolveCommand = { decision: Resolution; result: string | null; endLiveClaim: boolean }

/**
 * What an operator's decision writes, or null where the record is not resolvable as it stands: completed, skipped, or
 * claimed with a live lease (unless `endLiveClaim`), or armed by a replay, which is taken back by cancelling it. A `retry` claim whose lease is over needs `endLiveClaim` too: its
 * state is still `claimed`, and its owner would be cut off. A `retry` of what was released changes its version only. The
 * audit line gets the state and attempt that stood.
 */
export function resolve(
  record: LedgerRecord,
  command: ResolveCommand,
  audit: Omit<AuditEntry, 'before'>,
  now: number,
): Change | null {
  if (!isResolvable(record, command, now)) return null
  const before = JSON.stringify({ state: visibleState(record, now), attempt: record.attempt })
  return {
    expectVersion: record.version,
    record: { ...record, version: record.version + 1, detailsErasedAt: null, ...fieldsAfter(record, command, now) },
    grants: false,
    archive: null,
    fill: null,
    audit: { ...audit, before },
  }
}

function fieldsAfter(record: LedgerRecord, command: ResolveCommand, now: number): Partial<LedgerRecord> {
  const decided = { cause: 'operator', leaseExpiresAt: null, sweepAt: null, endedAt: now, availableAt: null } as const
  switch (command.decision) {
    case 'completed':
      return { ...completedFields(command.result, now), cause: 'operator' }
    case 'retry':
      // Given back unstarted, the next delivery runs it anyway: as an operator's doing it would look as if it may have run.
      return record.cause === 'released' ? {} : { ...decided, state: 'ready', cause: 'retry' }
    case 'dead':
    case 'skipped':
      return { ...decided, state: command.decision }
  }
}

function isResolvable(record: LedgerRecord, command: ResolveCommand, now: number): boolean {
  switch (record.state) {
    case 'held':
    case 'failed':
    case 'dead':
      return true
    case 'ready':
      // What a decision overwrote would be the outcome of a generation that a replay must leave as it is.
      return record.cause !== 'replay'
    case 'completed':
    case 'skipped':
      return false
    case 'claimed':
      return command.endLiveClaim || (record.onLeaseExpiry === 'hold' && !isLeaseLive(record, now))
  }
}
