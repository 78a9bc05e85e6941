import type { Resolution } from '@ranbook/contract'
import type { AuditEntry } from './audit-entry.ts'
import type { Change } from './decide.ts'
import { isLeaseLive, type LedgerRecord } from './record.ts'

/** An operator's decision about a record. `result` is JSON text and belongs to `completed`. */
export type ResolveCommand = { decision: Resolution; result: string | null; endLiveClaim: boolean }

/**
 * What an operator's decision writes, or null where the record is not resolvable as it stands: completed, skipped, or
 * claimed with a live lease (unless `endLiveClaim`). A `retry` claim whose lease is over needs `endLiveClaim` too: its
 * state is still `claimed`, and its owner would be cut off.
 */
export function resolve(record: LedgerRecord, command: ResolveCommand, audit: AuditEntry, now: number): Change | null {
  if (!isResolvable(record, command, now)) return null
  const decided = {
    version: record.version + 1,
    cause: 'operator',
    leaseExpiresAt: null,
    sweepAt: null,
    endedAt: now,
    availableAt: null,
  } as const
  const fields: Partial<LedgerRecord> =
    command.decision === 'completed'
      ? { state: 'completed', result: command.result }
      : command.decision === 'retry'
        ? { state: 'ready', cause: 'retry' }
        : { state: command.decision }
  return {
    expectVersion: record.version,
    record: { ...record, ...decided, ...fields },
    grants: false,
    archive: null,
    fill: null,
    audit,
  }
}

function isResolvable(record: LedgerRecord, command: ResolveCommand, now: number): boolean {
  switch (record.state) {
    case 'held':
    case 'failed':
    case 'dead':
    case 'ready':
      return true
    case 'completed':
    case 'skipped':
      return false
    case 'claimed':
      return command.endLiveClaim || (record.onLeaseExpiry === 'hold' && !isLeaseLive(record, now))
  }
}
