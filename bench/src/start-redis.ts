import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { freePort } from './start-service.ts'

/** A Redis of the benchmark's own, which keeps nothing on the disk and never evicts. */
export type RedisServer = {
  port: number
  pid: number
  /** Memory in use, in bytes. */
  usedMemory(): Promise<number>
  stop(): Promise<void>
}

/** Starts it on a free port in `folder`; resolves once it answers. */
export async function startRedis(folder: string): Promise<RedisServer> {
  const port = await freePort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', settings, { stdio: 'ignore' })
  const { pid } = child
  if (pid === undefined) throw new Error('redis-server could not be started')
  const client = createClient({ socket: { port, host: '127.0.0.1', reconnectStrategy: 50 } })
  client.on('error', () => undefined)
  const connected = client.connect()
  await Promise.race([connected, delay(10_000).then(() => Promise.reject(new Error('redis-server does not answer')))])
  return {
    port,
    pid,
    usedMemory: async () => Number(/used_memory:(\d+)/.exec(String(await client.info('memory')))?.[1]),
    stop: async () => {
      client.destroy()
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    },
  }
}
