import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PostgresPlace } from './run-pgbench.ts'

const main = fileURLToPath(new URL('../../apps/api/dist/main.js', import.meta.url))

/** The service as `npm start` runs it, in a folder of its own. */
export type Service = {
  url: string
  key: string
  apiPid: number
  postmasterPid: number
  postgres: PostgresPlace
  /** For files of the benchmark; gone after `stop`. */
  folder: string
  stop(): Promise<void>
}

/** A folder for the services and the files of a run; the database's own user has to pass through. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ranbook-bench-'))
  chmodSync(folder, 0o755)
  return folder
}

/**
 * Starts the service with its embedded database (durable settings) and waits until it is ready. A second one in the same
 * folder joins the database of the first. `redisPort`: where its windows are kept.
 */
export async function startService(folder: string, workers: number, redisPort: number | null = null): Promise<Service> {
  const port = await freePort()
  const key = randomBytes(24).toString('hex')
  const data = join(folder, 'data')
  const child = spawn(process.execPath, [main], {
    env: {
      ...process.env,
      PORT: String(port),
      RANBOOK_DATA_DIR: data,
      RANBOOK_ADMIN_KEY: key,
      RANBOOK_WORKERS: String(workers),
      LOG_LEVEL: 'error',
      ...(redisPort === null ? {} : { REDIS_URL: `redis://127.0.0.1:${redisPort}` }),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  await untilReady(url, child)
  if (child.pid === undefined) throw new Error('the service has no process id')
  const pidFile = readFileSync(join(data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  return {
    url,
    key,
    apiPid: child.pid,
    postmasterPid: Number(pidFile[0]),
    postgres: { socketFolder: pidFile[4] ?? '', port: Number(pidFile[3]), user: 'ranbook', database: 'postgres' },
    folder,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + 60_000
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the service ended with code ${child.exitCode}`)
    if (performance.now() > until) throw new Error('the service was not ready within 60 s')
    try {
      if ((await fetch(`${url}/readyz`)).ok) return
    } catch {
      // not listening yet
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A port that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
