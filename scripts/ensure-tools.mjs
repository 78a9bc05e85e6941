import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Programs that are run and that npm has no package of, with Debian's package of each. */
const debianPackages = {
  chromium: 'chromium',
  curl: 'curl',
  pgbench: 'postgresql',
  python3: 'python3',
  'redis-benchmark': 'redis-tools',
  'redis-server': 'redis-server',
  wrk: 'wrk',
}

/** Where Debian keeps PostgreSQL's programs. What it puts on the PATH is a wrapper, there before the program is. */
const postgresFolder = '/usr/lib/postgresql'

/**
 * Makes sure that programs are here. As root on Debian, installs what is missing; elsewhere ends the process with a
 * sentence that names it, since a test or a figure that is left out proves nothing.
 * @param {string} what for the sentence, such as `The benchmark`
 * @param {readonly (keyof typeof debianPackages)[]} names
 */
export function ensureTools(what, names) {
  const missing = names.filter((name) => !isThere(name))
  if (missing.length === 0) return

  const list = missing.join(', ')
  if (process.getuid?.() !== 0 || !isThere('apt-get')) {
    console.error(`${what} needs ${list}: please install ${missing.length === 1 ? 'it' : 'them'}.`)
    process.exit(1)
  }
  console.log(`Installing ${list} …`)
  const packages = missing.map((name) => debianPackages[name])
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', ...packages],
  ]) {
    const apt = spawnSync('apt-get', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (apt.status === 0) continue
    console.error(apt.error?.message ?? `${apt.stdout}${apt.stderr}`)
    console.error(`apt-get ${args[0]} failed. ${what} needs ${list}.`)
    process.exit(1)
  }
}

/** @param {string} name */
function isThere(name) {
  const versions = existsSync(postgresFolder) ? readdirSync(postgresFolder) : []
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(postgresFolder, version, 'bin')),
  ]
  return folders
    .map((folder) => join(folder, name))
    .some((file) => existsSync(file) && !realpathSync(file).endsWith('/pg_wrapper'))
}
