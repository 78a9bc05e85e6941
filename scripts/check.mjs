// `npm run check`: everything that can be told without running the product. No server, no database, seconds.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalled } from './ensure-installed.mjs'
import { findLongFiles } from './find-long-files.mjs'
import { findTestFaults } from './find-test-faults.mjs'
import { root } from './root.mjs'

ensureInstalled()

const importArgs = ['--config', '.dependency-cruiser.mjs', 'packages', 'apps', 'bench', 'examples']

/** @type {[name: string, fault: Promise<string>][]} all run at once; an empty text is a pass */
const checks = [
  ['format and lint', runTool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings'])],
  ['types', runTool('typescript/bin/tsc', ['-b'])],
  ['imports', runTool('dependency-cruiser/bin/dependency-cruise.mjs', importArgs)],
  ['dead code', runTool('knip/bin/knip.js', ['--no-progress'])],
  ['test names', Promise.resolve(findTestFaults().join('\n'))],
  ['file length', Promise.resolve(findLongFiles().join('\n'))],
]

let failed = 0
for (const [name, running] of checks) {
  const fault = (await running).trim()
  console.log(fault === '' ? `ok    ${name}` : `FAIL  ${name}\n\n${fault}\n`)
  if (fault !== '') failed += 1
}
if (failed > 0) {
  console.log(`${failed} of ${checks.length} checks failed.`)
  process.exit(1)
}

/**
 * Runs an installed tool and resolves to what it printed if it failed, else to nothing.
 * @param {string} script within node_modules
 * @param {string[]} args
 * @returns {Promise<string>}
 */
function runTool(script, args) {
  const tool = spawn(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [tool.stdout, tool.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      output += text
    })
  }
  return new Promise((resolve, reject) => {
    tool.on('error', reject)
    tool.on('close', (code) => resolve(code === 0 ? '' : output.trim() || `${script} ended with code ${code}.`))
  })
}
