import { type ClaimStore, type RecordStore, StoreError } from '@ranbook/rules'
import { type Coalesced, coalesce } from '../coalesce.ts'
import { createWindowStore } from '../window/create-window-store.ts'
import type { ColdConnections } from './cold-connections.ts'
import { createPostgresStore } from './create-postgres-store.ts'
import { createLane, type Lane } from './lane.ts'
import { createLanePool, type LanePool } from './lane-pool.ts'
import { PostgresRefused } from './postgres-refused.ts'
import type { PostgresTarget } from './postgres-target.ts'
import { probeServer } from './probe-server.ts'
import { coldSettings, hotSettings, lostAfterMs } from './session-settings.ts'
import { createWindowCells, removeWindowCellsOver } from './window-cells.ts'

export type { PostgresTarget } from './postgres-target.ts'

export type OpenOptions = {
  target: PostgresTarget
  /** Processes that share the machine: each takes its part of the connections. Default 1. */
  processes?: number
}

/** An open database. It comes back by itself when the server does; nothing it does ends the process. */
export type Postgres = {
  /** The ledger, concurrent calls gathered. */
  records: Coalesced<RecordStore>
  /** Windows in a table, gathered too. */
  windows: ClaimStore
  /** Removes records of those windows that are forgotten, at most so many. Returns how many. */
  removeForgotten(limit: number): Promise<number>
  /** For all that is not in the ledger's own tables. */
  cold: ColdConnections
  /** The store's clock in ms, asked on a connection of its own. Throws StoreError. */
  now(): Promise<number>
  /** Items that wait for a place in a statement, by queue. */
  queues(): Record<string, number>
  /** True behind a pooler that keeps no session settings: statements are planned each time, at a fifth of the speed lost. */
  pooled: boolean
  /** Lets running statements end, 4 s at most. */
  close(): Promise<void>
}

/** Statements in flight for claims and settles, over all processes. Two to six measured alike on two cores. */
const inFlightTotal = 4
/**
 * A statement has its own price beside its rows: with 64 clients, 39 rows in each instead of 22 took an eighth off the CPU
 * of a claim, on both sides. Where a statement hangs, on a lock say, few others wait for it no longer than this.
 */
const gatherBounds = { worthRows: 24, gatherMaxMs: 5 }
/**
 * 32 768 claims wait for about a second; 64 MiB of payloads leave the process below its memory target.
 *
 * Under load a queue that moves is better waited in for up to two seconds than refused: who is refused comes back, and
 * costs more. So these wait longer than the 250 ms of the other pools. Where nothing was answered for a second, though,
 * the database hangs (a disk that is merely slow flushes in some hundred milliseconds): then nobody else has to wait for
 * `lostAfterMs`, when what is in flight is given up.
 */
const queueBounds = {
  queuedRowsMax: 32_768,
  queuedBytesMax: 64 * 1024 * 1024,
  settleReserve: 0.2,
  waitMaxMs: 2000,
  stalledMs: 1000,
}
/** More rows cost no less each; more bytes are copied three times on their way into the socket. */
const batchBounds = { batchRowsMax: 256, batchBytesMax: 4 * 1024 * 1024 }
/** Tallies and late results may wait for the disk; beside one that does, the sweeper and new classes go on. */
const besideLanes = 2
/** What people read takes 2 s at most, and never more of the server than these. */
const readLanes = 4
/** Where a connection is alone: one statement in front that waits for its own limit is worth waiting for. */
const singleWaitLimitMs = 2000

/** The store's clock, cut to milliseconds, in seconds since 1970. */
const READ_CLOCK = `SELECT date_part('epoch', date_trunc('milliseconds', now()))`

/**
 * Opens the database, whose schema must stand (see `migrate`).
 *
 * @throws StoreError when it can't be reached; PostgresRefused when it is older than PostgreSQL 14.
 */
export async function openPostgres({ target, processes = 1 }: OpenOptions): Promise<Postgres> {
  const server = await probeServer(target)
  if (server.versionNumber < 140_000) {
    const version = Math.floor(server.versionNumber / 10_000)
    throw new PostgresRefused(`This is PostgreSQL ${version}. Ranbook needs PostgreSQL 14 or newer.`, {
      code: 'too_old',
    })
  }
  const { pooled } = server
  const lane = (settings: Readonly<Record<string, string | number>>, named: boolean): Lane =>
    createLane({ target, settings: pooled ? {} : settings, named: named && !pooled, deadlineMs: lostAfterMs })

  const inFlightMax = Math.max(2, Math.ceil(inFlightTotal / processes))
  const hotLanes = (count: number): LanePool =>
    createLanePool(Array.from({ length: count }, () => lane(hotSettings, true)))
  // Not named: behind a pooler a prepared COMMIT fails, is prepared anew, and by then ends a transaction that was
  // rolled back.
  const coldLane = (): Lane => lane(coldSettings, false)
  const gathered = hotLanes(inFlightMax)
  const beside = hotLanes(besideLanes)
  const reads = createLanePool(Array.from({ length: readLanes }, coldLane))
  const changes = createLanePool([coldLane()], singleWaitLimitMs)
  const refresh = createLanePool([coldLane()], singleWaitLimitMs)
  // With the settings of claims: what is due has to be found through an index, whatever was last analysed.
  const upkeep = createLanePool([lane(hotSettings, true)], singleWaitLimitMs)
  const clock = createLanePool([coldLane()])
  const pools = [gathered, beside, reads, changes, refresh, upkeep, clock]
  const bounds = {
    inFlightMax,
    ...gatherBounds,
    ...batchBounds,
    ...queueBounds,
    monotonicMs: () => performance.now(),
  }
  const records = coalesce(createPostgresStore({ gathered, beside, reads }), bounds)
  const windows = coalesce(createWindowStore(createWindowCells(gathered), 'postgres'), bounds)

  return {
    records,
    windows,
    removeForgotten: (limit) => removeWindowCellsOver(beside, limit),
    cold: { refresh, claims: beside, changes, upkeep, reads },
    pooled,
    queues: records.queued,
    async now() {
      const [row] = await clock.run<readonly [number]>(READ_CLOCK, [])
      if (row === undefined) throw new StoreError('store_unavailable', 'the database told no time')
      return Math.round(row[0] * 1000)
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.close()))
    },
  }
}
