import { setTimeout as delay } from 'node:timers/promises'
import { EmbeddedPostgresError } from './embedded-error.ts'
import { CLUSTER, type DataFolder } from './embedded-folder.ts'
import { hasUsers, isAlive, isGuarded, type Line } from './embedded-guard.ts'
import type { EmbeddedLog } from './embedded-log.ts'
import { runAsUser } from './run-as-user.ts'

/** An idle database is gone 10 ms after its guard has noticed. */
const GUARD_LIMIT_MS = 250
/** A fast shutdown writes what is in memory to disk: 256 MB at most, some seconds on a slow one. */
const FAST_LIMIT_MS = 10_000
/** An immediate shutdown writes nothing, and PostgreSQL kills what is left of it after 5 s. */
const IMMEDIATE_LIMIT_MS = 6_000
/** How often a wait looks whether somebody has joined meanwhile. */
const LOOK_MS = 25

// $1: the signal's name. The file's first line is the number of PostgreSQL's first process.
const SIGNAL = `kill -s "$1" "$(head -n 1 ${CLUSTER}/postmaster.pid)"`

/**
 * Ends this process's use of the database. If it was the last one, resolves when all the database's processes are
 * gone; otherwise at once.
 *
 * @throws EmbeddedPostgresError `stop_failed` when the database neither ends in 10 s nor, told to drop everything, in
 *   another 6 s. Nothing acknowledged is lost even then.
 */
export async function leaveEmbedded(folder: DataFolder, line: Line, log: EmbeddedLog): Promise<void> {
  line.hangUp()
  if (await isOver(folder, line, GUARD_LIMIT_MS)) return
  // The guard may have been killed; telling the database twice to end does no harm.
  await signal(folder, 'INT')
  if (await isOver(folder, line, FAST_LIMIT_MS)) return
  log.warn({ afterMs: FAST_LIMIT_MS }, 'The embedded database is slow to end and is told to drop everything')
  await signal(folder, 'QUIT')
  if (await isOver(folder, line, IMMEDIATE_LIMIT_MS)) return
  throw new EmbeddedPostgresError(
    `The embedded database in ${folder.path} did not end. Everything acknowledged is on disk; end its processes by hand before the next start.`,
    { code: 'stop_failed' },
  )
}

/**
 * Waits for a database to end that has no guard: it is ending already, or its guard was killed, and then it is told to
 * end. Returns early when it has a guard again.
 *
 * @throws EmbeddedPostgresError `start_failed` when it is still there after 10 s.
 */
export async function endUnguarded(folder: DataFolder): Promise<void> {
  const giveUpAt = performance.now() + FAST_LIMIT_MS
  await signal(folder, 'INT')
  while (isAlive(folder) && !isGuarded(folder)) {
    if (performance.now() > giveUpAt) {
      throw new EmbeddedPostgresError(
        `An earlier database in ${folder.path} is still ending. Start again in a moment; if it stays, end its processes by hand.`,
        { code: 'start_failed' },
      )
    }
    await delay(LOOK_MS)
  }
}

/** True as soon as the database is gone or others use it; false when neither happens in time. */
async function isOver(folder: DataFolder, line: Line, limitMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + limitMs
  let gone = false
  const end = line.gone.then(() => {
    gone = true
  })
  while (!gone && performance.now() < giveUpAt) {
    if (hasUsers(folder)) {
      line.leave()
      return true
    }
    await Promise.race([end, delay(LOOK_MS)])
  }
  return gone
}

/** Fails without a word when there is no such process any more: whether it's gone is seen elsewhere. */
async function signal({ path, user }: DataFolder, name: 'INT' | 'QUIT'): Promise<void> {
  await runAsUser(user, path, '/bin/sh', ['-c', SIGNAL, 'sh', name])
}
