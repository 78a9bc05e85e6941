import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished, vi } from 'vitest'

/** The built server, as `npm start` and the container run it. */
const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export const testAdminKey = 'test-admin-key-of-more-than-32-characters'

type Ended = { code: number | null; signal: NodeJS.Signals | null }

/** A server process of one test. It is killed when the test that started it is over. */
export type Ranbook = {
  readonly process: ChildProcess
  readonly pid: number
  /** Where the banner says it is. */
  readonly url: string
  readonly ended: Promise<Ended>
  stdout(): string
  stderr(): string
  /** Calls the API as admin and reads the answer as JSON. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>
}

type Environment = Record<string, string>

/** Starts a server on a free port and waits for its banner. Rejects with what it said when it ends before. */
export async function startRanbook(environment: Environment): Promise<Ranbook> {
  const server = spawnRanbook(environment)
  let hasEnded = false
  void server.ended.then(() => {
    hasEnded = true
  })
  const banner = /Ranbook \S+ is ready at (\S+)\n[\s\S]*curl .*\n.*\n\n/
  await vi.waitUntil(() => hasEnded || banner.test(server.stdout()), { timeout: 60_000, interval: 5 })
  const url = banner.exec(server.stdout())?.[1]
  if (url === undefined) throw new Error(`The server ended at its start: ${server.stdout()}${server.stderr()}`)
  return {
    ...server,
    url,
    call: async (method, path, body) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${testAdminKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
  }
}

/** Starts a server that is expected to end by itself. */
export function spawnRanbook(environment: Environment): Omit<Ranbook, 'url' | 'call'> {
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      PORT: '0',
      RANBOOK_ADMIN_KEY: testAdminKey,
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal }))
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
    })
  }
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended
  })
  if (child.pid === undefined) throw new Error('The server could not be started')
  return { process: child, pid: child.pid, ended, stdout: () => texts.stdout, stderr: () => texts.stderr }
}
