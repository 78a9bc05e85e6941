import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { processesIn } from '../embedded/processes-in.ts'
import { temporaryDataDir } from '../embedded/temporary-data-dir.ts'
import { testAdminKey } from './start-ranbook.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** `npm start` as a person types it, in a process group of its own as a terminal makes one. */
async function npmStart(dataDir: string): Promise<{ npm: ChildProcess; url: string; said: () => string }> {
  const npm = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: '0',
      RANBOOK_DATA_DIR: dataDir,
      RANBOOK_ADMIN_KEY: testAdminKey,
      LOG_LEVEL: 'warn',
    },
  })
  let said = ''
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  onTestFinished(() => {
    // Also what npm left behind, if it was only npm that ended.
    if (npm.pid !== undefined && npm.exitCode === null && npm.signalCode === null) process.kill(-npm.pid, 'SIGKILL')
  })
  await vi.waitUntil(() => npm.exitCode !== null || /is ready at \S+\n/.test(said), { timeout: 60_000 })
  const url = /is ready at (\S+)\n/.exec(said)?.[1]
  if (url === undefined) throw new Error(said)
  return { npm, url, said: () => said }
}

async function isGone(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  )
}

test('SIGTERM to npm alone drains the server that npm start began, its database included', async () => {
  const dataDir = await temporaryDataDir()
  const { npm, url } = await npmStart(dataDir)
  npm.kill('SIGTERM')
  await once(npm, 'exit')
  await vi.waitUntil(async () => (await isGone(url)) && processesIn(dataDir).length === 0, { timeout: 10_000 })
}, 90_000)

test('Ctrl-C in the terminal of npm start, which reaches several of its processes, drains the server once and in order', async () => {
  const dataDir = await temporaryDataDir()
  const { npm, url, said } = await npmStart(dataDir)
  const saidAtStart = said()
  if (npm.pid === undefined) throw new Error('npm has no process id')
  process.kill(-npm.pid, 'SIGINT')
  // The server writes to the same pipes, so they are closed when it is gone.
  await once(npm, 'close')
  expect(await isGone(url)).toBe(true)
  expect(processesIn(dataDir)).toEqual([])
  // A second signal would have ended it with an error.
  expect(said()).toBe(saidAtStart)
}, 90_000)

test('kill -9 of npm and of the starting script leaves neither a server nor a database behind', async () => {
  const dataDir = await temporaryDataDir()
  const { npm, url } = await npmStart(dataDir)
  if (npm.pid === undefined) throw new Error('npm has no process id')
  // The group holds npm, its shell and the starting script; the server is in one of its own.
  process.kill(-npm.pid, 'SIGKILL')
  await vi.waitUntil(async () => (await isGone(url)) && processesIn(dataDir).length === 0, { timeout: 10_000 })
}, 90_000)
