import { readFileSync, readlinkSync, unlinkSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { CLUSTER } from './embedded-cluster.ts'
import type { DataFolder } from './embedded-folder.ts'
import { isAlive } from './embedded-guard.ts'
import { hasCode } from './has-code.ts'

/**
 * Removes the lock file of a database that is no more, where PostgreSQL would not dare: the process number in it
 * belongs to a process of the same user, which after a power cut may be any, or to a dead one whose parent hasn't taken
 * note. Leaves it when any process of a database holds this folder's pipe, or works in the cluster's folder (one that
 * was started by hand), and on systems other than Linux, where that can't be seen.
 *
 * Call it after a start that failed for the lock. It doesn't wait for anything, because between looking and removing no
 * other start may get as far as a lock of its own; should one, PostgreSQL's shared memory still keeps a second away.
 */
export function removeStaleLock(folder: DataFolder): void {
  if (platform() !== 'linux' || isAlive(folder)) return
  const cluster = join(folder.path, CLUSTER)
  const lock = join(cluster, 'postmaster.pid')
  try {
    const [pid = ''] = readFileSync(lock, 'utf8').split('\n')
    if (workingFolder(pid) !== cluster) unlinkSync(lock)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** Undefined for a process that is gone or dead, or another user's, which PostgreSQL doesn't take for the owner. */
function workingFolder(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH') || hasCode(error, 'EACCES')) return undefined
    throw error
  }
}
