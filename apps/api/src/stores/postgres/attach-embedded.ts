import { rename, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type BinaryPackage, runnableBinaries } from './embedded-binaries.ts'
import { ensureCluster } from './embedded-cluster.ts'
import { EmbeddedPostgresError } from './embedded-error.ts'
import { CLUSTER, type DataFolder, makeMeetingPoints } from './embedded-folder.ts'
import { isAlive, joinUsers, type Line, startGuarded } from './embedded-guard.ts'
import type { EmbeddedLog } from './embedded-log.ts'
import { type EmbeddedConnection, postmasterWhenReady } from './embedded-ready.ts'
import { EMBEDDED_DATABASE, EMBEDDED_ROLE, embeddedArguments } from './embedded-settings.ts'
import { hasCode } from './has-code.ts'
import { endUnguarded, leaveEmbedded } from './leave-embedded.ts'
import { removeStaleLocks } from './remove-stale-locks.ts'
import { runAsUser } from './run-as-user.ts'

/** One use of the running database by this process. */
export type EmbeddedAttachment = {
  readonly line: Line
  readonly postmasterPid: number
  /** True when the database ran already. */
  readonly adopted: boolean
  readonly connection: EmbeddedConnection
}

/** Where root keeps binaries that the database's user can't run where they are installed. Never data. */
const ROOT_COPIES = '/var/lib/ranbook-postgres'

/** A start without recovery takes 50 ms. */
const SLOW_START_MS = 3_000

/** Less than one more file of PostgreSQL's log, 16 MB, which it may need to start. */
const FULL_DISK_BYTES = 16 * 1024 * 1024

/** A start writes a few hundred bytes; one older file is kept beside it. */
const LOG_LIMIT_BYTES = 1_000_000

/** How a database is started, if none runs. */
export type EmbeddedLaunch = {
  readonly installed: BinaryPackage
  /** False starts it without flushing to disk. */
  readonly durable: boolean
  readonly log: EmbeddedLog
}

/**
 * Joins the database that runs on the folder, or starts one; resolves when it serves. Two starts at once end up with
 * the same database: PostgreSQL's own lock lets one through, and the other finds that one serving.
 *
 * @param signal aborted when the database isn't wanted any more: it is left again, be it recovering still.
 * @throws EmbeddedPostgresError; the signal's reason
 */
export async function attachEmbedded(
  folder: DataFolder,
  launch: EmbeddedLaunch,
  signal: AbortSignal,
): Promise<EmbeddedAttachment> {
  for (;;) {
    signal.throwIfAborted()
    const sockets = await makeMeetingPoints(folder)
    const connection = { path: join(sockets, '.s.PGSQL.5432'), user: EMBEDDED_ROLE, database: EMBEDDED_DATABASE }
    const adopted = isAlive(folder)
    const logged = adopted ? 0 : await rotateLog(folder)
    const line = adopted ? joinUsers(folder) : await start(folder, sockets, launch)
    if (line === undefined) {
      await endUnguarded(folder)
      continue
    }
    const slow = setTimeout(() => {
      launch.log.info({ dataDir: folder.path }, 'The embedded database is recovering; postgres.log tells how far it is')
    }, SLOW_START_MS)
    try {
      const postmasterPid = await postmasterWhenReady(connection, line.gone, signal)
      if (postmasterPid !== undefined) return { line, postmasterPid, adopted, connection }
    } catch (error) {
      if (signal.aborted) await leaveEmbedded(folder, line, launch.log)
      else line.leave()
      throw error
    } finally {
      clearTimeout(slow)
    }
    // An adopted one was about to end; then it is this process's turn to start it.
    if (adopted) continue
    const said = await logSince(folder, logged)
    if (/lock file ".*" already exists/.test(said) && removeStaleLocks(folder, sockets)) continue
    throw await failedStart(folder, said)
  }
}

async function start(folder: DataFolder, sockets: string, { installed, durable, log }: EmbeddedLaunch): Promise<Line> {
  const copies = folder.user.switched ? ROOT_COPIES : join(folder.path, 'binaries')
  const binaries = await runnableBinaries(installed, folder.user, copies, log)
  await ensureCluster(folder, binaries, durable)
  // A socket folder elsewhere is open to the database's user by its own path.
  const inside = sockets.startsWith(`${folder.path}/`)
  const socketsForDatabase = inside ? `${folder.pathForDatabase}/sock` : sockets
  return startGuarded(folder, [
    binaries.postgres,
    '-D',
    `${folder.pathForDatabase}/${CLUSTER}`,
    ...embeddedArguments(socketsForDatabase, durable),
  ])
}

/** Begins a new log file if the old one has grown. Returns the size of the log so far, in bytes. */
async function rotateLog({ path }: DataFolder): Promise<number> {
  const log = join(path, 'postgres.log')
  try {
    const { size } = await stat(log)
    if (size < LOG_LIMIT_BYTES) return size
    await rename(log, `${log}.1`)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  return 0
}

async function logSince({ path, user }: DataFolder, logged: number): Promise<string> {
  // Read as the database's user, who could have put a link to anything there.
  const { output } = await runAsUser(user, path, 'tail', ['-c', `+${logged + 1}`, 'postgres.log'])
  return output.trim().split('\n').slice(-3).join(' ')
}

async function failedStart({ path }: DataFolder, said: string): Promise<EmbeddedPostgresError> {
  const { bavail, bsize } = await statfs(path)
  // On a full disk it may not even have been able to say so.
  if (said.includes('No space left') || bavail * bsize < FULL_DISK_BYTES) {
    return new EmbeddedPostgresError(
      `The disk of ${path} is full, so the embedded database can't start; nothing it holds is lost. Free space and start again. ${said}`,
      { code: 'disk_full' },
    )
  }
  return new EmbeddedPostgresError(
    `The embedded database in ${path} ended at its start; see ${join(path, 'postgres.log')}. Its last words: ${said}`,
    { code: 'start_failed' },
  )
}
