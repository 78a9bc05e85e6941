import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.mjs'

/** Everything the server and the page it serves are built from. */
const sources = [
  'packages/contract',
  'packages/rules',
  'packages/sdk',
  'apps/api',
  'apps/web',
  'tsconfig.base.json',
  'tsconfig.build.json',
  'pnpm-lock.yaml',
]
const notSources = new Set(['dist', 'node_modules', 'test'])

const outputs = ['apps/api/dist/main.js', 'apps/web/dist/index.html']
const stamp = join(root, 'node_modules', '.cache', 'ranbook', 'built')

/**
 * Builds the server and its page (`dist` folders) unless they stand as built from the files that are here now.
 * "The files that are here now" is judged by path, size and time, so a later start costs milliseconds.
 * Prints one line when it builds. Ends the process with the compiler's output and code if it can't.
 */
export function ensureBuilt() {
  const wanted = sourcesFingerprint()
  const built = outputs.every((file) => existsSync(join(root, file)))
  if (built && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return

  console.log('Building …')
  runTool('node_modules/typescript/bin/tsc', ['-b', 'tsconfig.build.json'], root)
  runTool('apps/web/node_modules/vite/bin/vite.js', ['build', '--logLevel', 'warn'], join(root, 'apps/web'))
  mkdirSync(join(stamp, '..'), { recursive: true })
  writeFileSync(stamp, wanted)
}

/**
 * @param {string} script
 * @param {string[]} args
 * @param {string} cwd
 */
function runTool(script, args, cwd) {
  const { status, error } = spawnSync(process.execPath, [join(root, script), ...args], { cwd, stdio: 'inherit' })
  if (status === 0) return
  console.error(error?.message ?? 'The build failed; see above.')
  process.exit(status ?? 1)
}

function sourcesFingerprint() {
  const hash = createHash('sha256')
  /** @param {string} path */
  const add = (path) => {
    const info = statSync(join(root, path))
    if (!info.isDirectory()) {
      hash.update(`${path} ${info.size} ${info.mtimeMs}\n`)
      return
    }
    for (const name of readdirSync(join(root, path)).sort()) if (!notSources.has(name)) add(`${path}/${name}`)
  }
  for (const path of sources) add(path)
  return hash.digest('hex')
}
