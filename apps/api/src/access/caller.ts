import type { Action } from '@ranbook/contract'
import type { Scope } from '../ledger/ledger-deps.ts'

/** Who is calling, as its API key says. */
export type Caller = {
  /** As the audit names it: `key:<id>`. */
  actor: string
  name: string
  actions: ReadonlySet<Action>
  scope: Scope
}
