import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.mjs'

const stamp = join(root, 'node_modules', '.cache', 'ranbook', 'installed')

/**
 * Installs the locked packages if this checkout has none, or others than the lockfile names.
 * Prints one line when it installs, nothing otherwise. Ends the process with pnpm's output and code if it can't.
 */
export function ensureInstalled() {
  const wanted = installFingerprint()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return

  console.log('Installing packages …')
  // npx brings the pinned pnpm along, so that a newcomer needs nothing but Node.
  const install = spawnSync('npx', ['-y', pinnedPnpm(), 'install', '--frozen-lockfile', '--reporter=append-only'], {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
    // pnpm prints a line per package at most; the default of 1 MiB would end an install that warns a lot.
    maxBuffer: 64 * 1024 * 1024,
  })
  if (install.status !== 0) {
    console.error(install.error?.message ?? `${install.stdout}${install.stderr}`)
    console.error('The packages could not be installed; see above.')
    process.exit(install.status ?? 1)
  }
  mkdirSync(join(stamp, '..'), { recursive: true })
  writeFileSync(stamp, wanted)
}

function pinnedPnpm() {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return packageManager.split('+')[0]
}

/** What decides which packages belong here: the lockfile, its settings, and the platform they were fetched for. */
function installFingerprint() {
  const hash = createHash('sha256')
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(join(root, file)))
  return hash.update(`${process.platform} ${process.arch}`).digest('hex')
}
