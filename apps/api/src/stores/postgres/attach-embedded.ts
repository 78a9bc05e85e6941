import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { binaryPackage, runnableBinaries } from './embedded-binaries.ts'
import { CLUSTER, ensureCluster } from './embedded-cluster.ts'
import { EmbeddedPostgresError } from './embedded-error.ts'
import { type DataFolder, makeMeetingPoints } from './embedded-folder.ts'
import { isAlive, joinUsers, type Line, startGuarded } from './embedded-guard.ts'
import { type EmbeddedConnection, postmasterWhenReady } from './embedded-ready.ts'
import { EMBEDDED_DATABASE, EMBEDDED_ROLE, embeddedArguments } from './embedded-settings.ts'
import { hasCode } from './has-code.ts'
import { endUnguarded } from './leave-embedded.ts'
import { removeStaleLock } from './remove-stale-lock.ts'
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

/** A start writes a few hundred bytes; one older file is kept beside it. */
const LOG_LIMIT_BYTES = 1_000_000

/** How long a lock file may outlive its owner: a killed process has its number until its parent takes note. */
const LOCK_LIMIT_MS = 5_000
const LOCK_LOOK_MS = 50

/**
 * Joins the database that runs on the folder, or starts one; resolves when it serves. Two starts at once end up with
 * the same database: PostgreSQL's own lock lets one through, and the other finds that one serving.
 *
 * @param durable false starts it without flushing to disk.
 * @throws EmbeddedPostgresError
 */
export async function attachEmbedded(folder: DataFolder, durable: boolean): Promise<EmbeddedAttachment> {
  const lockedUntil = performance.now() + LOCK_LIMIT_MS
  for (;;) {
    const sockets = await makeMeetingPoints(folder)
    const connection = { path: join(sockets, '.s.PGSQL.5432'), user: EMBEDDED_ROLE, database: EMBEDDED_DATABASE }
    const adopted = isAlive(folder)
    const logged = await rotateLog(folder)
    const line = adopted ? joinUsers(folder) : await start(folder, sockets, durable)
    if (line === undefined) {
      await endUnguarded(folder)
      continue
    }
    try {
      const postmasterPid = await postmasterWhenReady(connection, line.gone)
      if (postmasterPid !== undefined) return { line, postmasterPid, adopted, connection }
    } catch (error) {
      line.leave()
      throw error
    }
    // An adopted one was about to end; then it is this process's turn to start it.
    if (adopted) continue
    const said = await logSince(folder, logged)
    if (!said.includes('lock file') || performance.now() > lockedUntil) throw failedStart(folder, said)
    removeStaleLock(folder)
    await delay(LOCK_LOOK_MS)
  }
}

async function start(folder: DataFolder, sockets: string, durable: boolean): Promise<Line> {
  const copies = folder.user.switched ? ROOT_COPIES : join(folder.path, 'binaries')
  const binaries = await runnableBinaries(await binaryPackage(), folder.user, copies)
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

function failedStart({ path }: DataFolder, said: string): EmbeddedPostgresError {
  if (said.includes('No space left')) {
    return new EmbeddedPostgresError(
      `The disk of ${path} is full, so the embedded database can't start; nothing it holds is lost. Free space and start again. (${said})`,
      { code: 'disk_full' },
    )
  }
  return new EmbeddedPostgresError(
    `The embedded database in ${path} ended at its start; see ${join(path, 'postgres.log')}. Its last words: ${said}`,
    { code: 'start_failed' },
  )
}
