import {
  type AuditEntry,
  type LedgerRecord,
  type ResolveCommand,
  resolve as resolveRule,
  StoreError,
} from '@ranbook/rules'
import { type LedgerDeps, maxRounds, type Scope } from './ledger-deps.ts'
import { mayTouch } from './settle.ts'

export type ResolveAnswer =
  | { kind: 'resolved'; record: LedgerRecord; now: number }
  | { kind: 'not_resolvable'; record: LedgerRecord; now: number }
  | { kind: 'not_found' }

/**
 * An operator's decision about one record, with its audit line in the same atomic write. Of two deciders, or a decider
 * and a late complete, the first to commit wins.
 */
export async function resolve(
  deps: LedgerDeps,
  scope: Scope,
  digest: string,
  command: ResolveCommand,
  audit: AuditEntry,
): Promise<ResolveAnswer> {
  for (let round = 0; round < maxRounds; round++) {
    const [found] = await deps.store.read([{ digest, claimToken: null }])
    if (!found || !mayTouch(scope, found.record)) return { kind: 'not_found' }
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
