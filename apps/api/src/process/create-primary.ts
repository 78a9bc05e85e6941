import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeApiKey } from '../access/api-key-text.ts'
import type { Config } from '../config.ts'
import type { PostgresTarget } from '../stores/postgres/postgres-target.ts'
import { adminKeyFile } from './admin-key-file.ts'
import { type AdminKeySource, banner } from './banner.ts'
import { endLimitMs } from './drain-limits.ts'
import { keepEmbedded } from './keep-embedded.ts'
import type { Log } from './log.ts'
import { prepareDatabase } from './prepare-database.ts'
import { type DatabasePlace, refuseUnreachable } from './refuse-unreachable.ts'
import { type ServeOptions, serve } from './serve.ts'
import { startWorkers } from './start-workers.ts'
import { untilReachable } from './until-reachable.ts'

export type PrimaryDeps = {
  config: Config
  log: Log
  version: string
  /** Folder of the built web app; null serves the API alone. */
  webRoot: string | null
  /** Shows text to whoever started the server. */
  say: (text: string) => void
}

export type Primary = {
  /**
   * Opens the database, brings its schema up to date, serves, and says so.
   *
   * @throws an error that `isStartRefusal` tells apart, whose message is for the operator, or what nobody expected.
   */
  start(): Promise<void>
  /**
   * Drains what `start` has brought up so far and ends the embedded database: 10 s in all at most. What is left then ends
   * with this process.
   */
  stop(): Promise<void>
}

/** The process that owns the installation on this machine: it serves itself, or starts the workers that do. */
export function createPrimary({ config, log, version, webRoot, say }: PrimaryDeps): Primary {
  const closers: (() => Promise<void>)[] = []

  const start = async (): Promise<void> => {
    const database = await openDatabase(config, log, closers)
    const makeFirstKey = config.databaseUrl !== null && config.adminKey === null
    const firstKey = await untilReachable(
      log,
      () => prepareDatabase({ target: database.target, log, makeFirstKey }),
      (error, triedForMs) => refuseUnreachable(database, error, triedForMs),
    )
    const adminKey = await findAdminKey(config, firstKey)

    const options: ServeOptions = {
      host: config.host,
      port: config.port,
      target: database.target,
      databaseLabel: database.label,
      redisUrl: config.redisUrl,
      adminKey: adminKey.accepted,
      processes: config.workers,
      sweepIntervalMs: config.sweepIntervalMs,
      pruneIntervalMs: config.pruneIntervalMs,
      webRoot,
      targetAllowlist: config.targetAllowlist,
      version,
    }
    const port = await startServing(config.workers, options, log, closers)

    const localUrl = `http://${reachableHost(config.host)}:${port}`
    const publicUrl = config.publicUrl ?? localUrl
    const place = `${database.label} at ${database.place}`
    say(banner({ version, publicUrl, localUrl, database: place, adminKey: adminKey.source }))
  }

  const closeAll = async (): Promise<'closed'> => {
    for (const close of closers.toReversed()) await close()
    return 'closed'
  }

  return {
    start,
    stop: async () => {
      const limit = new AbortController()
      const late = delay(endLimitMs, 'late' as const, { signal: limit.signal }).catch(() => 'closed' as const)
      try {
        const end = await Promise.race([closeAll(), late])
        if (end === 'late') log.warn({}, 'The end took too long; what has not ended by itself ends with this process')
      } finally {
        limit.abort()
      }
    },
  }
}

/** Serves by itself or with workers, once the database can be reached. Returns the port. */
async function startServing(
  workerCount: number,
  options: ServeOptions,
  log: Log,
  closers: (() => Promise<void>)[],
): Promise<number> {
  if (workerCount > 1) {
    const workers = startWorkers(workerCount, options, log)
    closers.push(workers.drain)
    return workers.port
  }
  const serving = await untilReachable(log, () => serve(options, log))
  closers.push(serving.drain)
  return serving.port
}

type Database = DatabasePlace & {
  target: PostgresTarget
  /** Its kind, which everybody may know. */
  label: string
}

async function openDatabase(config: Config, log: Log, closers: (() => Promise<void>)[]): Promise<Database> {
  if (config.databaseUrl !== null) {
    const place = withoutCredentials(config.databaseUrl)
    return { target: config.databaseUrl, label: 'PostgreSQL', embedded: false, place }
  }
  const database = await keepEmbedded({ dataDir: config.dataDir, throughClosedParents: !config.dataDirGiven }, log)
  closers.push(database.stop)
  return { target: database.connection, label: 'embedded PostgreSQL', embedded: true, place: resolve(config.dataDir) }
}

type FoundAdminKey = {
  /** The key accepted beside those of the database; null where there is none. */
  accepted: string | null
  source: AdminKeySource
}

/** @param firstKey the key just made in an external database, if one was. */
async function findAdminKey(config: Config, firstKey: string | null): Promise<FoundAdminKey> {
  if (config.adminKey !== null) return { accepted: config.adminKey, source: { kind: 'environment' } }
  if (config.databaseUrl !== null) {
    return {
      accepted: null,
      source: firstKey === null ? { kind: 'shown_before' } : { kind: 'made', key: firstKey, file: null },
    }
  }
  const file = join(resolve(config.dataDir), 'admin-key')
  const { key, made } = await adminKeyFile(file, makeApiKey(randomBytes).text)
  return { accepted: key, source: made ? { kind: 'made', key, file } : { kind: 'file', file } }
}

/** Host, port and database, where the URL is one that can be taken apart without a doubt; never user or password. */
function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return 'the hosts of DATABASE_URL'
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** A listening address as part of a URL; "all addresses" is reached at this machine's own. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
