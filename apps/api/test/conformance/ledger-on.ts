import { randomUUID } from 'node:crypto'
import type { Policy } from '@ranbook/contract'
import type { RecordStore } from '@ranbook/rules'
import type { LedgerDeps } from '../../src/ledger/ledger-deps.ts'
import { noWindows } from '../../src/ledger/windows.ts'

/** The ledger's verbs on a store, with policies given by the test and nobody watching. `random` spreads hints, 0.5 if left out. */
export function ledgerOn(
  store: RecordStore,
  policyFor: (className: string) => Policy,
  random: () => number = () => 0.5,
): LedgerDeps {
  return {
    store,
    windows: noWindows,
    policies: { policyFor, requireFresh: () => {} },
    pairs: { has: () => true, add: async () => {} },
    observer: { claimed: () => {}, answered: () => {}, settled: () => {}, expired: () => {} },
    random,
    newToken: randomUUID,
  }
}
