import { execFile } from 'node:child_process'
import { chmod, type FileHandle, mkdir, open, readdir, realpath, stat } from 'node:fs/promises'
import { platform, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { EmbeddedPostgresError } from './embedded-error.ts'
import { type DatabaseUser, databaseUser, runsAsRoot } from './embedded-user.ts'
import { hasCode } from './has-code.ts'
import { runAsUser } from './run-as-user.ts'

/** The data folder, owned by the database's user and closed to others. */
export type DataFolder = {
  /** Its real path, for this process. */
  readonly path: string
  /** Its path for the database's processes, which differs when they may not enter a folder above it. */
  readonly pathForDatabase: string
  readonly user: DatabaseUser
  /** Open as long as the folder is in use: `pathForDatabase` may go through it. */
  readonly handle: FileHandle
}

/** Name of the database cluster inside the data folder. */
export const CLUSTER = 'postgres'

/** A socket's path may have 107 bytes on Linux and 103 on macOS; a rounder number leaves both some room. */
const SOCKET_PATH_BYTES = 100

/** File descriptor of the folder's handle in each process of the database; see `runAsUser`. */
const PATH_THROUGH_HANDLE = '/proc/self/fd/4'

/** What Ranbook makes in its data folder beside the database; some file systems begin with a `lost+found`. */
const OWN_NAMES =
  /^(users|alive|sock|binaries|postgres\.log(\.1)?|postgres-new-.+|admin-key(\.[\da-f-]{36})?|lost\+found)$/

// Names the first folder, of those given from the root downwards, that the user may not enter.
const FIRST_CLOSED_FOLDER = 'for folder; do [ -x "$folder" ] || { printf %s "$folder"; exit; }; done'

// Makes what the database's processes and users meet at: the two pipes of embedded-guard.ts, and `sock`, the folder of
// the socket. $1: empty, or where to put the socket's folder because its path would be too long here; `sock` is a link
// then. A folder there that went missing gets its old name again, so that a pool of connections finds it.
const MAKE_MEETING_POINTS = `
umask 077
for pipe in users alive; do
  [ -p "$pipe" ] || mkfifo "$pipe" || [ -p "$pipe" ] || exit
done
if [ -n "$1" ]; then
  away=$(readlink sock) || { rm -rf sock; away=$(mktemp -d "$1/ranbook-XXXXXX") && ln -s "$away" sock; } || exit
  [ -d "$away" ] || mkdir "$away" || exit
  [ -O "$away" ] && [ ! -h "$away" ] || { echo "$away belongs to somebody else"; exit 1; }
else
  [ -d sock ] || mkdir sock || [ -d sock ] || { rm -f sock && mkdir sock; } || exit
fi`

/**
 * Opens Ranbook's data folder: makes it if it's missing, checks that it is Ranbook's own, gives it the owner and mode
 * (0700) that its database user needs, and checks that this user can enter it. Folders above it are never changed.
 *
 * @param throughClosedParents when the user may not enter a folder above: reach the data folder through an open handle
 *   (Linux, root only) instead of refusing.
 * @throws EmbeddedPostgresError `folder_unusable`, `no_database_user`
 */
export async function openDataFolder(dataDir: string, throughClosedParents: boolean): Promise<DataFolder> {
  const wanted = resolve(dataDir)
  let handle: FileHandle | undefined
  try {
    await makeFolder(wanted)
    const path = await realpath(wanted)
    await refuseForeignFolder(path)
    const user = await giveToDatabaseUser(path)
    handle = await open(path)
    if (await canEnter(user, path)) return { path, pathForDatabase: path, user, handle }
    if (throughClosedParents && platform() === 'linux' && (await canEnter(user, PATH_THROUGH_HANDLE, handle))) {
      return { path, pathForDatabase: PATH_THROUGH_HANDLE, user, handle }
    }
    throw await closedFolder(path, user)
  } catch (cause) {
    await handle?.close()
    if (cause instanceof EmbeddedPostgresError) throw cause
    if (cause instanceof Error && 'syscall' in cause && String(cause.syscall).startsWith('spawn')) {
      throw new EmbeddedPostgresError(
        `This process is root but may not start the database's processes as another user (${cause.message}). Start Ranbook as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own.`,
        { code: 'no_database_user', cause },
      )
    }
    throw new EmbeddedPostgresError(
      `The data folder ${wanted} can't be used: ${String(cause)}. Set RANBOOK_DATA_DIR to a folder that this user may make or owns.`,
      { code: 'folder_unusable', cause },
    )
  }
}

/**
 * Makes the pipes and the socket's folder inside the data folder. What is there already stays.
 *
 * @returns the real path of the socket's folder.
 * @throws EmbeddedPostgresError `folder_unusable`, `disk_full`
 */
export async function makeMeetingPoints({ path, user }: DataFolder): Promise<string> {
  const socketBytes = Buffer.byteLength(join(path, 'sock', '.s.PGSQL.5432'))
  const elsewhere = socketBytes > SOCKET_PATH_BYTES ? tmpdir() : ''
  const { status, output } = await runAsUser(user, path, '/bin/sh', ['-c', MAKE_MEETING_POINTS, 'sh', elsewhere])
  if (status === 0) return realpath(join(path, 'sock'))
  throw new EmbeddedPostgresError(
    `The embedded database's socket can't be made for ${path}: ${output.trim()}. Free space, or set RANBOOK_DATA_DIR to another folder.`,
    { code: output.includes('No space left') ? 'disk_full' : 'folder_unusable' },
  )
}

async function makeFolder(path: string): Promise<void> {
  const parent = dirname(path)
  const firstMade = await mkdir(parent, { recursive: true })
  if (firstMade !== undefined && runsAsRoot()) {
    // A strict umask would close the parents made here to the database's user.
    for (let made = parent; made.startsWith(firstMade); made = dirname(made)) await chmod(made, 0o755)
  }
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

/** Owner and mode of a folder are about to be changed, so it must be empty or Ranbook's: never /etc or a home. */
async function refuseForeignFolder(path: string): Promise<void> {
  const names = await readdir(path)
  if (names.every((name) => OWN_NAMES.test(name))) return
  if (names.includes(CLUSTER) && names.includes('alive')) return
  // A restored backup may lack the rest.
  if (names.includes(CLUSTER) && (await readdir(join(path, CLUSTER))).includes('PG_VERSION')) return
  throw new EmbeddedPostgresError(
    `The data folder ${path} holds files that are not Ranbook's (${names.slice(0, 3).join(', ')}). Set RANBOOK_DATA_DIR to an empty or new folder.`,
    { code: 'folder_unusable' },
  )
}

async function giveToDatabaseUser(path: string): Promise<DatabaseUser> {
  const { uid: owner, mode } = await stat(path)
  const user = databaseUser(owner)
  if (owner !== user.uid) {
    if (!user.switched) {
      throw new EmbeddedPostgresError(
        `The data folder ${path} belongs to uid ${owner}, not to ${user.name}, who starts Ranbook. Start it as its owner, or set RANBOOK_DATA_DIR to another folder.`,
        { code: 'folder_unusable' },
      )
    }
    // With all that is in it: root may have put a backup back.
    await promisify(execFile)('chown', ['-hR', `${user.uid}:${user.gid}`, path])
  }
  if ((mode & 0o777) !== 0o700) await chmod(path, 0o700)
  return user
}

async function canEnter(user: DatabaseUser, path: string, handle?: FileHandle): Promise<boolean> {
  const { status } = await runAsUser(user, '/', '/bin/sh', ['-c', 'cd "$1"', 'sh', path], handle?.fd)
  return status === 0
}

async function closedFolder(path: string, user: DatabaseUser): Promise<EmbeddedPostgresError> {
  const folders = [path]
  while (folders[0] !== undefined && folders[0] !== '/') folders.unshift(dirname(folders[0]))
  const { output: closed } = await runAsUser(user, '/', '/bin/sh', ['-c', FIRST_CLOSED_FOLDER, 'sh', ...folders])
  return new EmbeddedPostgresError(
    `The data folder ${path} can't be used: PostgreSQL refuses to run as root, and user ${user.name}, who runs it instead, may not enter ${closed}. Set RANBOOK_DATA_DIR to a folder elsewhere (for example /var/lib/ranbook), or start Ranbook as an ordinary user.`,
    { code: 'folder_unusable' },
  )
}
