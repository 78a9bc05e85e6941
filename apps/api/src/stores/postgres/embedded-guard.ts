// The guard is a small shell process between this one and PostgreSQL. It ends PostgreSQL when the last process that
// uses it is gone, however that one ended, and it is out of reach of a terminal's Ctrl-C.
//
// Who is there is counted by the kernel, with two named pipes that never carry a byte:
//   users  written by each process that uses the database, read by the guard: end of file = nobody uses it any more
//   alive  written by all of PostgreSQL's processes and the guard, read by each user: end of file = all of them are gone
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { DataFolder } from './embedded-folder.ts'
import { hasCode } from './has-code.ts'
import { userProcess } from './run-as-user.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

// $@: PostgreSQL's command line. Standard input is the pipe of users, file descriptor 3 that of the living.
// Signals meant for everybody (a service being stopped) are ignored: the users decide when the database ends.
const GUARD = `
umask 077
trap '' HUP INT TERM
exec 5<&0 </dev/null >>postgres.log 2>&1
"$@" 5<&- &
postgres=$!
( read -r nothing <&5; exec 5<&-; kill -INT $postgres ) 3>&- &
watcher=$!
exec 5<&-
wait $postgres
status=$?
{ kill -KILL $watcher; wait $watcher; } 2>/dev/null
exit $status`

/** The wire between this process and a running database. */
export type Line = {
  /** Resolves when every process of the database is gone, its guard too; to the reason if that can't be watched. */
  readonly gone: Promise<Error | undefined>
  /** Tells the guard that this process no longer uses the database. May be called again. */
  hangUp(): void
  /** Hangs up, and settles `gone` although the database may go on for others. */
  leave(): void
}

/** Whether a database runs in this folder, be it starting, serving or ending. */
export function isAlive(folder: DataFolder): boolean {
  return hasWriter(folder, 'alive')
}

/** Whether any process uses the database of this folder. */
export function hasUsers(folder: DataFolder): boolean {
  return hasWriter(folder, 'users')
}

/** Whether a guard waits for the database's last user to leave. */
export function isGuarded(folder: DataFolder): boolean {
  const users = ifThere(() => openPipe(folder, 'users', O_WRONLY | O_NONBLOCK))
  if (users === undefined) return false
  closeSync(users)
  return true
}

/** Joins the users of a running database. Undefined when no guard listens: the database is ending, or lost its guard. */
export function joinUsers(folder: DataFolder): Line | undefined {
  const users = ifThere(() => openPipe(folder, 'users', O_WRONLY | O_NONBLOCK))
  if (users === undefined) return undefined
  const line = holdLine(users, openPipe(folder, 'alive', O_RDONLY | O_NONBLOCK))
  // A pipe whose last writer left before it was opened never reports its end.
  if (!isAlive(folder)) line.leave()
  return line
}

/**
 * Starts a guard, and PostgreSQL under it, as the database's user. Resolves as soon as the guard runs.
 *
 * @throws the system's error when the guard can't be started.
 */
export async function startGuarded(folder: DataFolder, command: readonly string[]): Promise<Line> {
  // A pipe opened for one end only would wait for the other end, so reading comes first, without waiting.
  const alive = openPipe(folder, 'alive', O_RDONLY | O_NONBLOCK)
  const first = openPipe(folder, 'users', O_RDONLY | O_NONBLOCK)
  const users = openPipe(folder, 'users', O_WRONLY)
  const usersForGuard = openPipe(folder, 'users', O_RDONLY)
  closeSync(first)
  const aliveForGuard = openPipe(folder, 'alive', O_WRONLY)
  const line = holdLine(users, alive)
  try {
    const guard = spawn('/bin/sh', ['-c', GUARD, 'ranbook-guard', ...command], {
      ...userProcess(folder.user),
      cwd: folder.path,
      // A session of its own, which no signal to this process's group or terminal reaches.
      detached: true,
      stdio: [usersForGuard, 'ignore', 'ignore', aliveForGuard, folder.handle.fd],
    })
    guard.unref()
    await once(guard, 'spawn')
  } catch (error) {
    line.leave()
    throw error
  } finally {
    closeSync(usersForGuard)
    closeSync(aliveForGuard)
  }
  return line
}

function holdLine(users: number, alive: number): Line {
  let held = true
  const hangUp = (): void => {
    if (held) closeSync(users)
    held = false
  }
  const reader = new Socket({ fd: alive, readable: true, writable: false })
  const leave = (): void => {
    hangUp()
    reader.destroy()
  }
  const gone = new Promise<Error | undefined>((resolve) => {
    reader.once('error', resolve)
    reader.once('close', () => {
      hangUp()
      resolve(undefined)
    })
  })
  reader.resume()
  // A process with nothing else to do may end without saying so; the guard notices.
  reader.unref()
  return { gone, hangUp, leave }
}

function hasWriter(folder: DataFolder, pipe: string): boolean {
  const reader = ifThere(() => openPipe(folder, pipe, O_RDONLY | O_NONBLOCK))
  if (reader === undefined) return false
  try {
    // End of file, which is 0 bytes, only if no writer is there.
    return readSync(reader, Buffer.alloc(1)) > 0
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return true
    throw error
  } finally {
    closeSync(reader)
  }
}

function openPipe(folder: DataFolder, pipe: string, flags: number): number {
  return openSync(join(folder.path, pipe), flags | O_NOFOLLOW)
}

/** Undefined when there is no such pipe, or nobody at its other end. */
function ifThere(opening: () => number): number | undefined {
  try {
    return opening()
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENXIO')) return undefined
    throw error
  }
}
