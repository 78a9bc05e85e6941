import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from './settings.ts'

/** Where the example's parts live, and how to leave them. */
export type Places = Omit<Settings, 'receiverPort'> & {
  freePort: number
  close(): Promise<void>
}

/** A service of the example's own in a temporary folder; the effects go to a database beside it. */
export async function openPlaces(env: NodeJS.ProcessEnv): Promise<Places> {
  return { ...(await startService(env)), freePort: await findFreePort() }
}

async function startService(env: NodeJS.ProcessEnv): Promise<Omit<Places, 'freePort'>> {
  const folder = mkdtempSync(join(tmpdir(), 'ranbook-example-'))
  chmodSync(folder, 0o755) // the database's own user has to pass through
  const port = await findFreePort()
  const key = randomBytes(24).toString('hex')
  const data = join(folder, 'data')
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../../apps/api/dist/main.js', import.meta.url))], {
    env: { ...env, PORT: String(port), RANBOOK_DATA_DIR: data, RANBOOK_ADMIN_KEY: key, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ranbookUrl = `http://127.0.0.1:${port}`
  await untilReady(ranbookUrl, child)
  const pidFile = readFileSync(join(data, 'pg', 'postmaster.pid'), 'utf8').split('\n')
  return {
    ranbookUrl,
    ranbookKey: key,
    effects: { host: pidFile[4] ?? '', port: Number(pidFile[3]), database: 'postgres', username: 'ranbook' },
    close: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true })
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

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
