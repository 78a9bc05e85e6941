import { type SpawnOptions, spawn } from 'node:child_process'
import type { DatabaseUser } from './embedded-user.ts'

/**
 * What every process of the embedded database is started with, beside its own standard streams: the user, and an
 * environment that has nothing of ours in it (no secret, no PG* variable, no locale).
 */
export function userProcess(user: DatabaseUser): Pick<SpawnOptions, 'uid' | 'gid' | 'env'> {
  return {
    ...(user.switched ? { uid: user.uid, gid: user.gid } : {}),
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' },
  }
}

/** How a program ended. `output` is what it wrote to both standard streams. `status` is null when a signal ended it. */
export type Run = { readonly status: number | null; readonly output: string }

/**
 * Runs a program to its end as the database's user.
 *
 * @param folder the working folder; it is entered before the user is changed, so the user need not be able to reach it.
 * @param folderHandle an open handle on a folder that the program finds as file descriptor 4, if it needs one.
 * @throws the system's error when the program can't be started at all. A failing program is not an error.
 */
export function runAsUser(
  user: DatabaseUser,
  folder: string,
  program: string,
  args: readonly string[],
  folderHandle?: number,
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...userProcess(user),
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe', 'ignore', folderHandle ?? 'ignore'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, output }))
  })
}
