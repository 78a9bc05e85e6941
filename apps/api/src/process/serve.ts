import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createAccessBook } from '../access/create-access-book.ts'
import { createAuditBook } from '../access/create-audit-book.ts'
import { createApp } from '../app.ts'
import { postSigned } from '../delivery/post-signed.ts'
import type { TargetAllowlist } from '../delivery/target-allowlist.ts'
import { createTargetRules } from '../delivery/target-rules.ts'
import type { HttpDeps } from '../http/http-deps.ts'
import { requestListener } from '../http/request-listener.ts'
import { startClockWatch } from '../jobs/clock-watch.ts'
import { startDuplicateTally } from '../jobs/duplicate-tally.ts'
import { startForgottenWindows } from '../jobs/forgotten-windows.ts'
import { type Job, repeatedly } from '../jobs/job.ts'
import { startMismatchTally } from '../jobs/mismatch-tally.ts'
import { startPruner } from '../jobs/pruner.ts'
import { startReplayPusher } from '../jobs/replay-pusher.ts'
import { startReplayRunner } from '../jobs/replay-runner.ts'
import { startStatsKeeper } from '../jobs/stats-keeper.ts'
import { startStatsTally } from '../jobs/stats-tally.ts'
import { startSweeper } from '../jobs/sweeper.ts'
import { createWaitRoom } from '../ledger/claim-waiting.ts'
import { createClassBook } from '../ledger/create-class-book.ts'
import { createPairRegistry } from '../ledger/create-pair-registry.ts'
import { createWindows } from '../ledger/create-windows.ts'
import { readById } from '../ledger/read-by-id.ts'
import { replayRules } from '../ledger/replay-rules.ts'
import { createAttentionStore } from '../stores/postgres/attention-store.ts'
import { createAuditStore } from '../stores/postgres/audit-store.ts'
import { createClassStore } from '../stores/postgres/class-store.ts'
import { createKeyStore } from '../stores/postgres/key-store.ts'
import { createMismatchStore } from '../stores/postgres/mismatch-store.ts'
import { openPostgres, type Postgres } from '../stores/postgres/open-postgres.ts'
import type { PostgresTarget } from '../stores/postgres/postgres-target.ts'
import { createPushStore } from '../stores/postgres/push-store.ts'
import { createReplayStore } from '../stores/postgres/replay-store.ts'
import { createRetentionStore } from '../stores/postgres/retention-store.ts'
import { createStatsStore } from '../stores/postgres/stats-store.ts'
import { type OpenRedis, openRedis } from '../stores/redis/open-redis.ts'
import { createWindowStore } from '../stores/window/create-window-store.ts'
import { requestsLimitMs, servingLimitMs } from './drain-limits.ts'
import { createHealth } from './health.ts'
import { startHttpServer } from './http-server.ts'
import { createLedgerObserver } from './ledger-observer.ts'
import type { Log } from './log.ts'
import { createMetrics, type Levels, type MetricsReport } from './metrics.ts'
import { reportFailures } from './report-failures.ts'
import { watchRedis } from './watch-redis.ts'

/** Twice a second, so that a change made elsewhere is in force here within one, the query included. */
const refreshEveryMs = 500
/** The spans of outages are moved on by ten times as much. */
const keepOutagesEveryMs = 1000
/** Each key is noted once a minute at most, so most runs have nothing to write. */
const noteUsesEveryMs = 1000

/** Everything one serving process is told. Plain data, as it is sent to worker processes. */
export type ServeOptions = {
  host: string
  port: number
  target: PostgresTarget
  /** Such as `embedded PostgreSQL`: shown to everybody who asks for readiness. */
  databaseLabel: string
  /** Null: windows are kept in Postgres. */
  redisUrl: string | null
  /** Null: only API keys of the database are accepted. */
  adminKey: string | null
  /** Share of this process in the connections. */
  processes: number
  sweepIntervalMs: number
  pruneIntervalMs: number
  /** Folder of the built web app; null serves the API alone. */
  webRoot: string | null
  /** Null: every host that can be sent to at all. */
  targetAllowlist: TargetAllowlist | null
  version: string
}

export type Serving = {
  port: number
  /** Not ready at once; then what is in flight is finished, tallies are flushed, connections closed: 9 s at most. */
  drain(): Promise<void>
  report(): Promise<MetricsReport>
}

/**
 * Serves as this one process, jobs included. The schema must stand.
 *
 * @param exposition metrics of all processes; this one's alone by default.
 * @throws StartRefused when the port can't be listened on; StoreError when the database can't be read.
 */
export async function serve(
  options: ServeOptions,
  log: Log,
  exposition?: HttpDeps['metrics']['exposition'],
): Promise<Serving> {
  const database = await openPostgres({ target: options.target, processes: options.processes })
  const redis =
    options.redisUrl === null
      ? null
      : await openRedis({ url: options.redisUrl, failed: reportFailures(log, 'connection to Redis') })
  try {
    return await serveFrom({ database, redis }, options, log, exposition)
  } catch (error) {
    await redis?.close()
    await database.close()
    throw error
  }
}

async function serveFrom(
  { database, redis }: { database: Postgres; redis: OpenRedis | null },
  options: ServeOptions,
  log: Log,
  exposition: HttpDeps['metrics']['exposition'] | undefined,
): Promise<Serving> {
  if (database.pooled) {
    log.info(
      {},
      'A pooler that keeps no session settings is in front of the database; statements are planned each time',
    )
  }
  let draining = false
  const monotonicMs = (): number => performance.now()
  const random = Math.random
  const levels: Levels = {
    requestsInFlight: () => 0,
    waiters: () => 0,
    storeQueues: database.queues,
    redisUsable: () => true,
  }
  const metrics = createMetrics(levels)

  const classStore = createClassStore(database.cold)
  const classes = await createClassBook({ store: classStore, monotonicMs })
  const access = await createAccessBook({
    keys: createKeyStore(database.cold),
    adminKey: options.adminKey,
    now: Date.now,
    monotonicMs,
    randomBytes,
  })
  const watch = redis && watchRedis({ redis, cold: database.cold, classes, monotonicMs, metrics, log })
  if (watch !== null) levels.redisUsable = watch.usable
  await watch?.looked
  const windows = createWindows({
    classes,
    store: classStore,
    postgres: database.windows,
    redis: redis &&
      watch && {
        claims: createWindowStore(redis.cells, 'redis'),
        usable: watch.usable,
        confirmed: watch.confirmed,
      },
    failed: reportFailures(log, 'windows'),
  })
  const waitRoom = createWaitRoom({
    read: (store, requests) => readById({ store: database.records, windows }, store, requests),
    draining: () => draining,
    random,
  })
  levels.waiters = waitRoom.waiting

  const tally = startDuplicateTally({
    store: database.records,
    lost: metrics.talliesLost,
    failed: reportFailures(log, 'duplicate tally'),
  })
  const statsStore = createStatsStore(database.cold)
  const stats = startStatsTally({ store: statsStore, lost: metrics.statsLost, failed: reportFailures(log, 'stats') })
  const mismatchStore = createMismatchStore(database.cold)
  const mismatches = startMismatchTally({
    store: mismatchStore,
    lost: metrics.statsLost,
    failed: reportFailures(log, 'mismatches'),
  })
  const observer = createLedgerObserver({
    metrics,
    tally: tally.add,
    stats,
    mismatched: mismatches.add,
    wake: waitRoom.wake,
  })

  const retention = createRetentionStore(database.cold)
  const targets = createTargetRules(options.targetAllowlist)
  const replays = createReplayStore(database.cold)

  const deps: HttpDeps = {
    ledger: {
      store: database.records,
      windows,
      policies: classes,
      pairs: createPairRegistry(classStore, classes),
      observer,
      random,
      newToken: randomUUID,
    },
    waitRoom,
    access,
    audit: createAuditBook(createAuditStore(database.cold)),
    classes,
    targets,
    retention,
    replays,
    monotonicMs,
    stats: statsStore,
    attention: createAttentionStore(database.cold),
    storeWarnings: () => watch?.warnings() ?? [],
    health: createHealth({
      storeNow: database.now,
      database: options.databaseLabel,
      redis: watch,
      processNow: monotonicMs,
      draining: () => draining,
    }),
    metrics: { observeRequest: metrics.observeRequest, exposition: exposition ?? metrics.exposition },
    log,
    webRoot: options.webRoot,
    version: options.version,
    newRequestId: randomUUID,
  }
  const server = await startHttpServer({
    host: options.host,
    port: options.port,
    handle: requestListener(createApp(deps), deps),
    newRequestId: randomUUID,
  })
  levels.requestsInFlight = server.requestsInFlight
  const jobs: Job[] = [
    startSweeper({
      store: database.records,
      observer,
      everyMs: options.sweepIntervalMs,
      failed: reportFailures(log, 'sweeper'),
    }),
    startClockWatch({
      storeNow: database.now,
      processNow: monotonicMs,
      jumped: ({ storeClockMs, processMs }) => {
        metrics.clockJumped((storeClockMs - processMs) / 1000)
        log.warn(
          { store_clock_ms: storeClockMs, process_ms: processMs },
          'The clock of the database jumped against the clock of this process; leases go on by the database’s',
        )
      },
      failed: reportFailures(log, 'clock watch'),
    }),
    startStatsKeeper({ stats: statsStore, mismatches: mismatchStore, failed: reportFailures(log, 'stats keeper') }),
    repeatedly(refreshEveryMs, classes.refresh, reportFailures(log, 'policies')),
    startPruner({
      store: retention,
      policies: classes,
      monotonicMs,
      everyMs: options.pruneIntervalMs,
      failed: reportFailures(log, 'pruner'),
    }),
    startReplayRunner({
      store: replays,
      rules: replayRules(classes),
      monotonicMs,
      failed: reportFailures(log, 'replays'),
    }),
    startReplayPusher({
      pushes: createPushStore(database.cold),
      records: database.records,
      policies: classes,
      post: (post) => postSigned({ rules: targets, now: Date.now }, post),
      random,
      failed: reportFailures(log, 'pushes of replays'),
    }),
    startForgottenWindows({ remove: database.removeForgotten, failed: reportFailures(log, 'forgotten windows') }),
    repeatedly(keepOutagesEveryMs, windows.keepOutages, reportFailures(log, 'windows')),
    repeatedly(refreshEveryMs, access.refresh, reportFailures(log, 'keys')),
    // Apart from the re-reading, which must not wait for a write.
    repeatedly(noteUsesEveryMs, access.noteUses, reportFailures(log, 'uses of keys')),
  ]

  const finish = async (): Promise<void> => {
    const cut = await server.finish(requestsLimitMs)
    if (cut > 0) log.warn({ in_flight: cut }, 'Requests were cut, as they were not done in time')
    await Promise.all([watch, ...jobs].map((job) => job?.stop()))
    await Promise.all([tally.stop(), stats.stop(), mismatches.stop()])
    await redis?.close()
    await database.close()
  }

  return {
    port: server.port,
    report: metrics.report,
    drain: async () => {
      draining = true
      server.stopAccepting()
      await Promise.race([finish(), delay(servingLimitMs, undefined, { ref: false })])
    },
  }
}
