import { StoreError } from '@ranbook/rules'
import type { Sql } from 'postgres'
import { type CoalescedStore, coalesce } from '../coalesce.ts'
import { connect } from './connect.ts'
import { createPostgresStore } from './create-postgres-store.ts'
import { createLane } from './lane.ts'
import { createLanePool } from './lane-pool.ts'
import { PostgresRefused } from './postgres-refused.ts'
import type { PostgresTarget } from './postgres-target.ts'
import { probeServer } from './probe-server.ts'
import { coldSettings, hotSettings, lostAfterMs } from './session-settings.ts'
import { watchSilence } from './watch-silence.ts'

export type { PostgresTarget } from './postgres-target.ts'

export type OpenOptions = {
  target: PostgresTarget
  /** Processes that share the machine: each takes its part of the connections. Default 1. */
  processes?: number
}

/** An open database. It comes back by itself when the server does; nothing it does ends the process. */
export type Postgres = {
  /** The ledger, concurrent calls gathered. */
  records: CoalescedStore
  /** A few connections with a time limit of 2 s per statement, for all that is not a claim or a settle. */
  cold: Sql
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
/** 32 768 claims wait for about a second; 64 MiB of payloads leave the process below its memory target. */
const queueBounds = { queuedRowsMax: 32_768, queuedBytesMax: 64 * 1024 * 1024, settleReserve: 0.2, waitMaxMs: 2000 }
/** More rows cost no less each; more bytes are copied three times on their way into the socket. */
const batchBounds = { batchRowsMax: 256, batchBytesMax: 4 * 1024 * 1024 }
const searchLanes = 2
const coldConnections = 3

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
  const lane = (settings: Readonly<Record<string, string | number>>, named: boolean) =>
    createLane({ target, settings: pooled ? {} : settings, named: named && !pooled, deadlineMs: lostAfterMs })

  const inFlightMax = Math.max(2, Math.ceil(inFlightTotal / processes))
  // One more for what is not gathered: tallies, late results, the sweeper's search.
  const hot = createLanePool(Array.from({ length: inFlightMax + 1 }, () => lane(hotSettings, true)))
  const search = createLanePool(Array.from({ length: searchLanes }, () => lane(coldSettings, false)))
  const clock = createLanePool([lane(coldSettings, false)])
  const cold = connect(target, {
    max: coldConnections,
    // Behind a pooler a prepared COMMIT fails, is prepared anew, and by then ends a transaction that was rolled back.
    prepare: false,
    connection: pooled ? {} : coldSettings,
    backoff: () => 0,
    onnotice: () => undefined,
    onSocket: (socket) => watchSilence(socket, lostAfterMs),
  })
  const records = coalesce(createPostgresStore({ hot, cold: search }), {
    inFlightMax,
    ...batchBounds,
    ...queueBounds,
    monotonicMs: () => performance.now(),
  })

  return {
    records,
    cold,
    pooled,
    queues: records.queued,
    async now() {
      const [row] = await clock.run<readonly [number]>(READ_CLOCK, [])
      if (row === undefined) throw new StoreError('store_unavailable', 'the database told no time')
      return Math.round(row[0] * 1000)
    },
    async close() {
      await Promise.all([hot.close(), search.close(), clock.close(), cold.end({ timeout: lostAfterMs / 1000 })])
    },
  }
}
