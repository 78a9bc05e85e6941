// `npm test [-- <vitest arguments>]`: installs, checks, builds and runs every test. It needs no server, disturbs none,
// and closes with one line: how many tests passed and failed.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { ensureTools } from './ensure-tools.mjs'
import { onNpmGone } from './on-npm-gone.mjs'
import { root } from './root.mjs'

// The suite takes about ten minutes on two cores that are all its own. Past this something hangs.
const suiteMaxMs = 14 * 60_000
// Once told to end, the tests get this long to stop what they started.
const graceMs = 10_000

ensureInstalled()
ensureTools('The test suite', ['chromium', 'curl', 'python3', 'redis-server'])

const check = spawnSync(process.execPath, [join(root, 'scripts/check.mjs')], { cwd: root, stdio: 'inherit' })
if (check.status !== 0) process.exit(check.status ?? 1)
ensureBuilt()

const report = join(root, 'node_modules', '.cache', 'ranbook', `tests-${process.pid}.json`)
mkdirSync(join(report, '..'), { recursive: true })

const vitest = spawn(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  // A process group of its own, so that it can be ended with its workers: by itself Vitest leaves busy ones behind.
  { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: ownEnvironment(), detached: true },
)

const bound = setTimeout(() => {
  console.error(`The tests were still running after ${suiteMaxMs / 60_000} minutes; they are ended now.`)
  endTests('SIGTERM')
}, suiteMaxMs)

for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
  process.on(signal, () => endTests(signal))
}
onNpmGone(() => endTests('SIGTERM'))

vitest.on('error', (error) => {
  console.error(`The tests could not be started: ${error.message}`)
  process.exit(1)
})
vitest.on('exit', (code) => {
  clearTimeout(bound)
  console.log(closingLine())
  process.exit(code ?? 1)
})

/** @param {NodeJS.Signals} signal */
function endTests(signal) {
  if (vitest.pid === undefined) return
  const group = -vitest.pid
  process.kill(group, signal)
  setTimeout(() => process.kill(group, 'SIGKILL'), graceMs).unref()
}

/** The environment without the settings of a server that runs beside the tests: each test chooses its own. */
function ownEnvironment() {
  const settings = /^(RANBOOK_.*|DATABASE_URL|REDIS_URL|PORT|HOST|LOG_LEVEL|PG[A-Z]+)$/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.test(name)))
}

function closingLine() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'))
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''
    return `${numPassedTests} passed, ${numFailedTests} failed${skipped}`
  } catch (error) {
    return `No report of the tests: ${error instanceof Error ? error.message : error}`
  } finally {
    rmSync(report, { force: true })
  }
}
