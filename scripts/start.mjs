// `npm start`: installs and builds what is missing, then runs the server and hands signals and exit code through.
//
// The server must end when this process does, however this process ends. So the server runs with
// RANBOOK_EXIT_WITH_STDIN=1 and a pipe as its standard input that only this process holds: when that input ends,
// the server drains as if it had been sent SIGTERM.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { onNpmGone } from './on-npm-gone.mjs'
import { root } from './root.mjs'

ensureInstalled()
ensureBuilt()

const server = spawn(process.execPath, [join(root, 'apps/api/dist/main.js'), ...process.argv.slice(2)], {
  stdio: ['pipe', 'inherit', 'inherit'],
  env: { ...process.env, RANBOOK_EXIT_WITH_STDIN: '1' },
  // Its own process group: Ctrl-C reaches it once, through this process, and not a second time from the terminal.
  detached: true,
})

// One Ctrl-C arrives here twice under npm: from the terminal, and from npm, which passes it on.
const echoMs = 500
/** @type {Map<NodeJS.Signals, number>} */
const lastForwardedAt = new Map()

/** @param {NodeJS.Signals} signal */
function forward(signal) {
  const now = Date.now()
  if (now - (lastForwardedAt.get(signal) ?? 0) < echoMs) return
  lastForwardedAt.set(signal, now)
  server.kill(signal)
}

for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
  process.on(signal, () => forward(signal))
}

onNpmGone(() => {
  if (lastForwardedAt.size === 0) forward('SIGTERM')
})

server.on('error', (error) => {
  console.error(`The server could not be started: ${error.message}`)
  process.exit(1)
})
server.on('exit', (code, signal) => {
  if (signal) console.error(`The server was ended by ${signal}.`)
  process.exit(code ?? 1)
})
