// `npm run bench [-- <arguments>]`: builds what is measured and what measures, then measures. Needs wrk, pgbench and Redis.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { ensureTools } from './ensure-tools.mjs'
import { root } from './root.mjs'

ensureInstalled()
ensureTools('The benchmark', ['wrk', 'pgbench', 'redis-server', 'redis-benchmark'])
ensureBuilt()

run('node_modules/typescript/bin/tsc', ['-b', 'bench'])
run('bench/dist/main.js', process.argv.slice(2))

/**
 * @param {string} script
 * @param {string[]} args
 */
function run(script, args) {
  const { status, error } = spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: 'inherit' })
  if (status === 0) return
  if (error) console.error(error.message)
  process.exit(status ?? 1)
}
