import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Programs that tests run and npm has no package of: the name on the PATH, and Debian's package. */
const tools = [
  { name: 'chromium', debianPackage: 'chromium' },
  { name: 'curl', debianPackage: 'curl' },
  { name: 'python3', debianPackage: 'python3' },
]

/**
 * Makes sure the programs that tests run are here. As root on Debian, installs what is missing; elsewhere ends the
 * process with a sentence that names it, since a test that is left out proves nothing.
 */
export function ensureTools() {
  const missing = tools.filter(({ name }) => !isOnPath(name))
  if (missing.length === 0) return

  const names = missing.map(({ name }) => name).join(', ')
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    console.error(`The tests need ${names}: please install ${missing.length === 1 ? 'it' : 'them'}.`)
    process.exit(1)
  }
  console.log(`Installing ${names} …`)
  const packages = missing.map(({ debianPackage }) => debianPackage)
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
    console.error(`apt-get ${args[0]} failed; the tests need ${names}.`)
    process.exit(1)
  }
}

/** @param {string} name */
function isOnPath(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}
