import type { Policy } from '@ranbook/contract'
import type { LedgerDeps } from '../../src/ledger/ledger-deps.ts'
import type { LookupDeps } from '../../src/ledger/lookup.ts'

/** One serving process, with its own copy of policies and places. */
export type HonestyProcess = {
  ledger: LedgerDeps
  lookups: LookupDeps
  /** What a process does each second: re-reads policies, moves outages on. */
  tick(): Promise<void>
}

/** A service whose clock the test moves. */
export type HonestyWorld = {
  now(): Promise<number>
  pass(ms: number): Promise<void>
  processes: readonly HonestyProcess[]
  /** Known to a process after its next tick. */
  putPolicy(className: string, policy: Policy): Promise<void>
  /** One run of retention. */
  prune(): Promise<void>
  /** Null: windows are kept in Postgres. */
  redis: { setDown(down: boolean): void; flush(): Promise<void> } | null
}
