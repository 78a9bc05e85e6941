import { readFileSync, readlinkSync, unlinkSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { CLUSTER, type DataFolder } from './embedded-folder.ts'
import { isAlive } from './embedded-guard.ts'
import { hasCode } from './has-code.ts'

/**
 * Removes the lock files of a database that is no more, where PostgreSQL would not dare: the process number in them now
 * belongs to another process of the same user, as it may after a power cut, or to a dead one whose parent hasn't taken
 * note of it. Call it after a start that failed for a lock.
 *
 * It doesn't wait for anything between looking and removing, so that no other start gets as far as a lock of its own
 * meanwhile; should one, the shared memory it holds still keeps a second database away.
 *
 * @param sockets folder of the socket, which has a lock of its own.
 * @returns false when a lock has an owner that this launcher didn't start, or it can't tell (not on Linux).
 */
export function removeStaleLocks(folder: DataFolder, sockets: string): boolean {
  if (isAlive(folder)) return true
  if (platform() !== 'linux') return false
  const cluster = join(folder.path, CLUSTER)
  for (const lock of [join(cluster, 'postmaster.pid'), join(sockets, '.s.PGSQL.5432.lock')]) {
    const pid = ifThere(() => readFileSync(lock, 'utf8').split('\n')[0])
    if (pid === undefined) continue
    if (isPostgresIn(cluster, pid)) return false
    ifThere(() => unlinkSync(lock))
  }
  return true
}

function isPostgresIn(cluster: string, pid: string): boolean {
  const stat = ifThere(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // number (name) state: Z and X are dead.
  if (stat === undefined || !/^\d+ \(postgres\) [^ZX]/.test(stat)) return false
  const folder = ifThere(() => readlinkSync(`/proc/${pid}/cwd`))
  // Root may lack the right to look; then this postgres may be the one.
  return folder === undefined || folder === cluster
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].some((code) => hasCode(error, code))) return undefined
    throw error
  }
}
