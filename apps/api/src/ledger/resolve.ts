import {
  type AuditEntry,
  coversRecord,
  type LedgerRecord,
  type ResolveCommand,
  resolve as resolveRule,
  type Scope,
  StoreError,
} from '@ranbook/rules'
import { type LedgerDeps, maxRounds } from './ledger-deps.ts'

export type ResolveAnswer =
  | { kind: 'resolved'; record: LedgerRecord; now: number }
  | { kind: 'not_resolvable'; record: LedgerRecord; now: number }
  | { kind: 'not_found' }

/**
 * An operator's decision about one record, with its audit line in the same atomic write; how the record stood is added
 * to the line. Of two deciders, or a decider and a late complete, the first to commit wins. Throws `StoreError`.
 */
export async function resolve(
  deps: LedgerDeps,
  scope: Scope,
  digest: string,
  command: ResolveCommand,
  audit: Omit<AuditEntry, 'before'>,
): Promise<ResolveAnswer> {
  for (let round = 0; round < maxRounds; round++) {
    const [found] = await deps.store.read([{ digest, claimToken: null }])
    if (!found || !coversRecord(scope, found.record)) return { kind: 'not_found' }
    const { record, now } = found
    const change = resolveRule(record, command, audit, now)
    if (change === null) return { kind: 'not_resolvable', record, now }
    const [written] = await deps.store.compareAndSet([change])
    if (written) {
      deps.observer.settled(`resolve_${command.decision}`, written.record)
      return { kind: 'resolved', record: written.record, now }
    }
  }
  throw new StoreError('overloaded', 'the record changed faster than it could be decided')
}
