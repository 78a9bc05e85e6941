import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Binaries, EMBEDDED_MAJOR } from './embedded-binaries.ts'
import { EmbeddedPostgresError } from './embedded-error.ts'
import { CLUSTER, type DataFolder } from './embedded-folder.ts'
import { EMBEDDED_CONFIG, EMBEDDED_HBA, EMBEDDED_ROLE, embeddedIdent } from './embedded-settings.ts'
import { hasCode } from './has-code.ts'
import { runAsUser } from './run-as-user.ts'

// Writes a file at once or not at all, since another start may be reading it. $1: text, $2: path.
// It's cat that writes, because a shell's own printf doesn't say why it couldn't.
const WRITE_FILE = 'umask 077 && printf %s "$1" | cat > "$2.$$" && mv -f "$2.$$" "$2"'

// Removes what initdb left behind when it was killed in the middle.
const REMOVE_UNFINISHED = 'rm -rf postgres-new-*'

/**
 * Makes the database cluster if the folder has none, and writes its configuration. A cluster is made aside and renamed
 * when it is whole and on disk, so a first start that is cut short is simply done again.
 *
 * @param durable false leaves out every flush to disk.
 * @throws EmbeddedPostgresError `other_major_version`, `disk_full`, `start_failed`
 */
export async function ensureCluster(folder: DataFolder, binaries: Binaries, durable: boolean): Promise<void> {
  const found = await clusterMajor(folder)
  if (found === undefined) await makeCluster(folder, binaries, durable)
  else if (found !== EMBEDDED_MAJOR) throw otherMajor(folder, found)

  await writeFile(folder, 'postgresql.conf', EMBEDDED_CONFIG)
  await writeFile(folder, 'pg_hba.conf', EMBEDDED_HBA)
  await writeFile(folder, 'pg_ident.conf', embeddedIdent(folder.user))
}

async function clusterMajor(folder: DataFolder): Promise<string | undefined> {
  return (await textOf(join(folder.path, CLUSTER, 'PG_VERSION')))?.trim()
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

async function makeCluster(folder: DataFolder, { initdb }: Binaries, durable: boolean): Promise<void> {
  const unfinished = `postgres-new-${randomUUID()}`
  const { status, output } = await runAsUser(
    folder.user,
    folder.path,
    initdb,
    [
      `--pgdata=${folder.pathForDatabase}/${unfinished}`,
      `--username=${EMBEDDED_ROLE}`,
      '--auth=peer',
      '--encoding=UTF8',
      // The same order and character classes on every host, whichever locales it has installed.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ],
    folder.handle.fd,
  )
  if (status !== 0 && (await clusterMajor(folder)) === undefined) throw failedToMake(folder, output)
  if (status === 0) {
    try {
      await rename(join(folder.path, unfinished), join(folder.path, CLUSTER))
    } catch (error) {
      // Another start was first: then its cluster is the one.
      if ((await clusterMajor(folder)) === undefined) throw brokenCluster(folder, error)
    }
  }
  // A power cut must not bring the old name back, or the next start would make an empty cluster.
  if (durable) await flushFolders(folder)
  await runAsUser(folder.user, folder.path, '/bin/sh', ['-c', REMOVE_UNFINISHED])
}

async function flushFolders({ path, handle }: DataFolder): Promise<void> {
  await handle.sync()
  let parent: FileHandle
  try {
    parent = await open(dirname(path))
  } catch (error) {
    // One that may be entered but not read can't be flushed by this user.
    if (hasCode(error, 'EACCES')) return
    throw error
  }
  try {
    await parent.sync()
  } finally {
    await parent.close()
  }
}

async function writeFile({ path, user }: DataFolder, name: string, text: string): Promise<void> {
  if ((await textOf(join(path, CLUSTER, name))) === text) return
  const args = ['-c', WRITE_FILE, 'sh', text, `${CLUSTER}/${name}`]
  const { status, output } = await runAsUser(user, path, '/bin/sh', args)
  if (status === 0) return
  throw new EmbeddedPostgresError(
    `${name} of the embedded database can't be written in ${path}: ${output.trim()}. Free space or repair the folder, then start again.`,
    { code: output.includes('No space left') ? 'disk_full' : 'start_failed' },
  )
}

function otherMajor({ path }: DataFolder, found: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The data folder ${path} was written by PostgreSQL ${found}, and this Ranbook brings PostgreSQL ${EMBEDDED_MAJOR}, which can't read it. Start the Ranbook that wrote it, or set RANBOOK_DATA_DIR to a new folder.`,
    { code: 'other_major_version' },
  )
}

function brokenCluster({ path }: DataFolder, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `${join(path, CLUSTER)} is there but is no whole database (it has no PG_VERSION), and is left as it is. Restore it, or set RANBOOK_DATA_DIR to a new folder.`,
    { code: 'folder_unusable', cause },
  )
}

function failedToMake({ path }: DataFolder, output: string): EmbeddedPostgresError {
  if (output.includes('No space left')) {
    return new EmbeddedPostgresError(
      `The disk of ${path} is full: the embedded database needs about 50 MB to begin with. Free space, or set RANBOOK_DATA_DIR to a folder on another disk.`,
      { code: 'disk_full' },
    )
  }
  return new EmbeddedPostgresError(
    `The embedded database can't be made in ${path}: ${lastLines(output)}. Set RANBOOK_DATA_DIR to another folder, or DATABASE_URL to a PostgreSQL of your own.`,
    { code: 'start_failed' },
  )
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-3).join(' ')
}
