import {
  type AuditEntry,
  coversRecord,
  type LedgerRecord,
  type ParsedRecordId,
  type ResolveCommand,
  resolve as resolveRule,
  type Scope,
  StoreError,
} from '@ranbook/rules'
import { change } from './change.ts'
import { type LedgerDeps, maxRounds } from './ledger-deps.ts'
import { readById } from './read-by-id.ts'

export type ResolveAnswer =
  | { kind: 'resolved'; record: LedgerRecord; now: number }
  | { kind: 'not_resolvable'; record: LedgerRecord; now: number }
  | { kind: 'not_found' }

/**
 * An operator's decision about one record, with its audit line in the same atomic write; how the record stood is added
 * to the line; in a window the line comes before it, and stands too where it then loses a race. Of two deciders, or a decider and a late complete, the first to commit wins. Throws `StoreError`.
 */
export async function resolve(
  deps: LedgerDeps & { audit: (entry: AuditEntry) => Promise<void> },
  scope: Scope,
  id: ParsedRecordId,
  command: ResolveCommand,
  audit: Omit<AuditEntry, 'before'>,
): Promise<ResolveAnswer> {
  for (let round = 0; round < maxRounds; round++) {
    const [found] = await readById(deps, id.store, [{ digest: id.digest, claimToken: null }])
    if (!found || !coversRecord(scope, found.record)) return { kind: 'not_found' }
    const { record, now } = found
    const decided = resolveRule(record, command, audit, now)
    if (decided === null) return { kind: 'not_resolvable', record, now }
    // A window keeps no audit: there the line comes first, so that nothing is decided without one.
    if (record.window !== null && decided.audit !== null) await deps.audit(decided.audit)
    const [written] = await change(deps, [decided])
    if (written) {
      deps.observer.settled(`resolve_${command.decision}`, written.record)
      return { kind: 'resolved', record: written.record, now }
    }
  }
  throw new StoreError('overloaded', 'the record changed faster than it could be decided')
}
