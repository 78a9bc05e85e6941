import type { Action } from '@ranbook/contract'
import type { Scope } from '@ranbook/rules'

/** Who is calling, as its API key says. */
export type Caller = {
  /** As the audit names it: `key:<id>`. */
  actor: string
  name: string
  actions: ReadonlySet<Action>
  scope: Scope
  /** When the key ends, in ms since 1970; null: never. */
  expiresAt: number | null
}
