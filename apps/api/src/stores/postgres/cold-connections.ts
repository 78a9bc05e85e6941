import type { Sessions } from './lane.ts'

/** Connections for all that is not in the ledger's own tables, by who waits for them: none of them can hold up another. */
export type ColdConnections = {
  /** What every process keeps a copy of and re-reads twice a second: claims stop when it can't. */
  refresh: Sessions
  /** What a claim waits for. */
  claims: Sessions
  /** Changes that people make. One at a time, as they would wait for one lock of the database anyway. */
  changes: Sessions
  /** Retention, which works in batches and may not hold up what people read. */
  upkeep: Sessions
  /** Everything else: what people read, and notes nobody waits for. */
  reads: Sessions
}
