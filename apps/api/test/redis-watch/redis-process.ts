import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { onTestFinished, vi } from 'vitest'

/** A Redis of one test, whose process can be ended and started again. */
export type RedisProcess = {
  readonly port: number
  /** For `REDIS_URL`. */
  readonly url: string
  /** Asks it by itself, on a connection that is made anew after it was started again. */
  ask(command: string, ...args: (string | number)[]): Promise<unknown>
  signal(signal: NodeJS.Signals): void
  /** kill -9; resolves once it is gone. */
  kill(): Promise<void>
  /** Starts it again where it was, with what its folder holds; resolves once it answers. */
  start(): Promise<void>
  /** Removes what it wrote: it must not run. */
  wipe(): Promise<void>
}

/** Starts a redis-server, append-only unless `settings` say otherwise, and ends it with the test. */
export async function startRedisProcess(settings: readonly string[] = []): Promise<RedisProcess> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'redis-'))
  let child: ChildProcess | null = null
  let client: Redis | null = null

  const ask = async (command: string, ...args: (string | number)[]): Promise<unknown> => {
    // One that a sentinel cut off stays so.
    if (client === null || client.status === 'end') {
      client = new Redis({ port, maxRetriesPerRequest: 0, retryStrategy: () => null })
      client.on('error', () => {})
    }
    return client.call(command, ...args)
  }
  const forget = (): void => {
    client?.disconnect()
    client = null
  }
  const start = async (): Promise<void> => {
    const own = ['--port', String(port), '--dir', folder, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes']
    child = spawn('redis-server', [...own, ...settings], { stdio: 'ignore' })
    await vi.waitUntil(
      () =>
        ask('PING').catch(() => {
          forget()
          return false
        }),
      { timeout: 10_000, interval: 20 },
    )
  }
  const kill = async (): Promise<void> => {
    forget()
    const ending = child
    child = null
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return
    ending.kill('SIGKILL')
    await once(ending, 'exit')
  }
  onTestFinished(async () => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  })
  await start()
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    ask,
    signal: (signal) => void child?.kill(signal),
    kill,
    start,
    wipe: async () => {
      await rm(join(folder, 'appendonlydir'), { recursive: true, force: true })
    },
  }
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('No port is free')
  return address.port
}
