import type { AuditEntry, ResolveCommand, Scope } from '@ranbook/rules'
import { type ClaimAnswer, claim as claimEach } from '../../src/ledger/claim.ts'
import { ItemFailure } from '../../src/ledger/item-failure.ts'
import type { LedgerDeps } from '../../src/ledger/ledger-deps.ts'
import { type ResolveAnswer, resolve as resolveOne } from '../../src/ledger/resolve.ts'
import { type SettleAnswer, type SettleItem, settle as settleEach } from '../../src/ledger/settle.ts'

/** `claim` of the ledger where every item is answered. Throws what the first failure was. */
export async function claim(...asked: Parameters<typeof claimEach>): Promise<ClaimAnswer[]> {
  return (await claimEach(...asked)).map(answered)
}

/** `settle` of the ledger, likewise; of records in the ledger unless said otherwise. */
export async function settle(
  deps: LedgerDeps,
  scope: Scope,
  items: readonly (Omit<SettleItem, 'store'> & Partial<Pick<SettleItem, 'store'>>)[],
): Promise<SettleAnswer[]> {
  const named = items.map((item): SettleItem => ({ store: 'ledger', ...item }))
  return (await settleEach(deps, scope, named)).map(answered)
}

/** `resolve` of the ledger, of a record there. */
export function resolve(
  deps: LedgerDeps,
  scope: Scope,
  digest: string,
  command: ResolveCommand,
  audit: Omit<AuditEntry, 'before'>,
): Promise<ResolveAnswer> {
  const written = async () => {
    throw new Error('the ledger writes the line with the change')
  }
  return resolveOne({ ...deps, audit: written }, scope, { store: 'ledger', digest }, command, audit)
}

function answered<Answer>(answer: Answer | ItemFailure): Answer {
  if (answer instanceof ItemFailure) throw answer.reason
  return answer
}
