import { attachEmbedded, type EmbeddedAttachment } from './attach-embedded.ts'
import { binaryPackage } from './embedded-binaries.ts'
import { EmbeddedPostgresError } from './embedded-error.ts'
import { openDataFolder } from './embedded-folder.ts'
import type { EmbeddedLog } from './embedded-log.ts'
import type { EmbeddedConnection } from './embedded-ready.ts'
import { hasCode } from './has-code.ts'
import { leaveEmbedded } from './leave-embedded.ts'

export type EmbeddedOptions = {
  /** Ranbook's own folder, made if missing, given to the database's user with mode 0700. Data go nowhere else. */
  readonly dataDir: string
  readonly log: EmbeddedLog
  /** Default true. False only for data that may be lost with the machine (tests). */
  readonly fsync?: boolean
  /** Called each time the database is gone without `stop()`. The database is back after `restart()`. */
  readonly onCrash?: () => void
  /** Default false; see `openDataFolder`. */
  readonly throughClosedParents?: boolean
}

/** A running embedded database, as one of the processes that use it. */
export type EmbeddedPostgres = {
  /** The same after every restart, so a pool made with it reconnects by itself. */
  readonly connection: EmbeddedConnection
  /** True when another process had started the database. */
  readonly adopted: boolean
  /** Process id of PostgreSQL's first process, as of the last (re)start seen here. */
  readonly postmasterPid: number
  /**
   * Brings the database back after a crash; resolves when it serves again. Does nothing when it wasn't lost, and joins
   * a restart under way. May be called again after it failed.
   *
   * @throws EmbeddedPostgresError as `openEmbedded` does; an `AbortError` when stopped meanwhile
   */
  restart(): Promise<void>
  /**
   * Leaves the database. The last process to leave ends it (connections are cut, everything acknowledged is kept) and
   * this resolves when all its processes are gone; while others use it, it resolves at once. A restart under way is given
   * up, however far its recovery is. May be called again.
   *
   * @throws EmbeddedPostgresError `stop_failed` when it is still there after 16 s.
   */
  stop(): Promise<void>
}

/**
 * Opens the embedded database: real PostgreSQL that belongs to Ranbook alone. Starts it, or joins it if it runs on this
 * folder already. It listens on a socket in the data folder only, which only root and the database's user reach, ends
 * with the last process that uses it, also when that one is killed, and loses nothing it acknowledged.
 *
 * @throws EmbeddedPostgresError with a sentence that says what to do; its codes are listed there.
 */
export async function openEmbedded({
  dataDir,
  log,
  fsync = true,
  onCrash,
  throughClosedParents = false,
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const launch = { installed: await binaryPackage(), durable: fsync, log }
  const folder = await openDataFolder(dataDir, throughClosedParents)
  const unwanted = new AbortController()
  let current: EmbeddedAttachment
  try {
    current = await attachEmbedded(folder, launch, unwanted.signal)
  } catch (error) {
    await folder.handle.close()
    throw error
  }
  const { adopted, connection } = current
  let lost = false
  let restarting: Promise<void> | undefined
  let stopping: Promise<void> | undefined

  function watch({ line, postmasterPid }: EmbeddedAttachment): void {
    void line.gone.then((err) => {
      if (stopping !== undefined) return
      lost = true
      log.warn({ err, postmasterPid }, 'The embedded database is gone')
      onCrash?.()
    })
  }

  async function reattach(): Promise<void> {
    current = await attachEmbedded(folder, launch, unwanted.signal)
    lost = false
    watch(current)
    log.info({ postmasterPid: current.postmasterPid }, 'The embedded database is back')
  }

  async function leave(): Promise<void> {
    try {
      unwanted.abort()
      // A restart that fails is reported to its caller; here it only has to be over, with nothing left of it.
      await restarting?.catch((error: unknown) => {
        if (hasCode(error, 'stop_failed')) throw error
      })
      if (!lost) await leaveEmbedded(folder, current.line, log)
    } finally {
      await folder.handle.close()
    }
  }

  watch(current)
  return {
    connection,
    adopted,
    get postmasterPid() {
      return current.postmasterPid
    },
    async restart() {
      if (stopping !== undefined) {
        throw new EmbeddedPostgresError('The embedded database was stopped.', { code: 'start_failed' })
      }
      if (!lost) return
      restarting ??= reattach().finally(() => {
        restarting = undefined
      })
      await restarting
    },
    stop() {
      stopping ??= leave()
      return stopping
    },
  }
}
