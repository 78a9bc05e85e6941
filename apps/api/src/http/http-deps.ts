import type { AttentionStore, ReplayStore, RetentionStore, StatsStore, StoreWarning } from '@ranbook/rules'
import type { AccessBook, AuditBook } from '../access/access-book.ts'
import type { TargetRules } from '../delivery/target-rules.ts'
import type { WaitRoom } from '../ledger/claim-waiting.ts'
import type { ClassBook } from '../ledger/class-book.ts'
import type { LedgerDeps } from '../ledger/ledger-deps.ts'

/** One JSON line; only allowed fields ever reach it. */
export type HttpLog = {
  debug(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

/** What the HTTP layer needs from the process around it. */
export type HttpDeps = {
  ledger: LedgerDeps
  /** The one that the ledger's observer wakes. */
  waitRoom: WaitRoom
  access: AccessBook
  audit: AuditBook
  classes: ClassBook
  /** Where replays and alerts may be sent. */
  targets: TargetRules
  retention: RetentionStore
  replays: ReplayStore
  stats: Pick<StatsStore, 'read'>
  attention: AttentionStore
  /** A clock that nobody can set, in ms. */
  monotonicMs: () => number
  /** What this process knows of how its stores are set up or reached; shown under attention. */
  storeWarnings: () => readonly StoreWarning[]
  health: {
    /** Postgres reached, migrations done, not draining. `stores` is shown in the body. */
    readiness(): Promise<{ ready: boolean; stores: Record<string, { ok: boolean; note: string | null }> }>
    draining(): boolean
  }
  metrics: {
    exposition(): Promise<{ contentType: string; text: string }>
    /** `route` is the template, never the path. */
    observeRequest(route: string, method: string, status: number, seconds: number): void
  }
  log: HttpLog
  /** Folder of the built web app; null serves the API alone. */
  webRoot: string | null
  version: string
  newRequestId: () => string
}
