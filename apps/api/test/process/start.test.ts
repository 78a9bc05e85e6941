import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { processesIn } from '../embedded/processes-in.ts'
import { temporaryDataDir } from '../embedded/temporary-data-dir.ts'
import { type Ranbook, spawnRanbook, startRanbook } from './start-ranbook.ts'

/** Pastes the banner's curl into a real shell. */
async function pasteCurl(
  { stdout }: Ranbook,
  environment: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const command = stdout().slice(stdout().indexOf('curl '))
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', ...environment }
  const { stdout: answer } = await promisify(execFile)('/bin/sh', ['-c', command], { env })
  return JSON.parse(answer) as Record<string, unknown>
}

async function stopped(server: Ranbook): Promise<void> {
  server.process.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
}

test('the first start makes an admin key, shows it once and keeps it; its curl works when pasted; the second start shows where it is', async () => {
  const dataDir = await temporaryDataDir()
  const environment = { RANBOOK_DATA_DIR: dataDir, RANBOOK_ADMIN_KEY: '' }
  const first = await startRanbook(environment)
  const file = join(dataDir, 'admin-key')
  const key = readFileSync(file, 'utf8').trim()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(first.stdout()).toContain(`${first.url}/#key=${encodeURIComponent(key)}`)
  expect(await pasteCurl(first)).toMatchObject({ outcome: 'claimed', class: 'hello.world', key: 'greeting:1' })
  expect(await pasteCurl(first)).toMatchObject({ outcome: 'in_progress' })
  await stopped(first)

  const second = await startRanbook(environment)
  expect(second.stdout()).not.toContain(key)
  expect(second.stdout()).toContain(file)
  expect(await pasteCurl(second)).toMatchObject({ outcome: 'in_progress' })
  await stopped(second)
  expect(first.stderr() + second.stderr()).toBe('')
})

test('a key of one’s own is taken from the environment and neither shown nor kept', async () => {
  const dataDir = await temporaryDataDir()
  const key = 'an-own-admin-key-of-forty-characters-2026'
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir, RANBOOK_ADMIN_KEY: key })
  expect(server.stdout()).not.toContain(key)
  expect(await pasteCurl(server, { RANBOOK_ADMIN_KEY: key })).toMatchObject({ outcome: 'claimed' })
  expect(() => readFileSync(join(dataDir, 'admin-key'))).toThrow('ENOENT')
  await stopped(server)
})

test('a wrong variable ends the start with exit code 1 and a sentence, and touches nothing', async () => {
  const dataDir = await temporaryDataDir()
  const { ended, stderr, stdout } = spawnRanbook({ RANBOOK_DATA_DIR: dataDir, PORT: 'eighty', LOG_LEVEL: 'loud' })
  expect(await ended).toEqual({ code: 1, signal: null })
  expect(stdout()).toBe('')
  expect(stderr()).toBe(
    'PORT must be a whole number from 0 to 65535; it is "eighty".\n' +
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent; it is "loud".\n',
  )
  expect(() => statSync(dataDir)).toThrow('ENOENT')
})

test('a variable that nothing reads is told and does not stop the start', async () => {
  const server = await startRanbook({ RANBOOK_DATA_DIR: await temporaryDataDir(), RANBOOK_WORKER: '2' })
  expect(server.stderr()).toBe(
    'RANBOOK_WORKER is not a variable of Ranbook and is ignored; did you mean RANBOOK_WORKERS?\n',
  )
  await stopped(server)
})

test.each(['1', '2'])(
  'a port in use ends the start of %s workers with a sentence and leaves no process',
  async (workers) => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const address = taken.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const dataDir = await temporaryDataDir()
    const environment = { RANBOOK_DATA_DIR: dataDir, PORT: String(port), RANBOOK_WORKERS: workers }
    const { ended, stderr, stdout } = spawnRanbook(environment)
    expect(await ended).toEqual({ code: 1, signal: null })
    expect(stdout()).toBe('')
    expect(stderr()).toBe(
      `Port ${port} on 127.0.0.1 is in use by another program. Stop it, or set PORT to a free one.\n`,
    )
    expect(processesIn(dataDir)).toEqual([])
  },
)

test('a DATABASE_URL that nobody listens on is tried for a while, then ends the start with a sentence that holds no password', async () => {
  const { ended, stderr } = spawnRanbook({
    DATABASE_URL: 'postgres://someone:canary-pass@127.0.0.1:1/ranbook',
    LOG_LEVEL: 'error',
  })
  expect(await ended).toEqual({ code: 1, signal: null })
  expect(stderr()).toMatch(
    /^DATABASE_URL: PostgreSQL at 127\.0\.0\.1:1\/ranbook can't be reached \(ECONNREFUSED\)\. .+\.\n$/,
  )
  expect(stderr()).not.toContain('canary')
})

test('an error that nobody caught is logged without what it quotes and ends the server with code 1, its database too', async () => {
  const dataDir = await temporaryDataDir()
  const fault = "process.once('SIGUSR2', () => void Promise.reject(new Error(['can', 'ary'].join(''))))"
  const server = await startRanbook({
    RANBOOK_DATA_DIR: dataDir,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
  })
  server.process.kill('SIGUSR2')
  expect(await server.ended).toEqual({ code: 1, signal: null })
  expect(JSON.parse(server.stderr())).toMatchObject({ level: 60, msg: 'An error was caught by nobody' })
  expect(server.stderr()).not.toContain('canary')
  await vi.waitUntil(() => processesIn(dataDir).length === 0, { timeout: 10_000 })
})
