import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { onTestFinished, vi } from 'vitest'
import { freePort } from './redis-process.ts'

/** Starts one sentinel that watches the master at `masterPort`, and ends it with the test. Resolves once it knows the replica. */
export async function startSentinel(masterPort: number): Promise<{ url: string }> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-'))
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor mymaster 127.0.0.1 ${masterPort} 1`,
    'sentinel down-after-milliseconds mymaster 500',
    'sentinel failover-timeout mymaster 3000',
  ]
  const file = join(folder, 'sentinel.conf')
  await writeFile(file, `${settings.join('\n')}\n`)
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  const client = new Redis({ port, maxRetriesPerRequest: 0, retryStrategy: () => 50 })
  client.on('error', () => {})
  onTestFinished(async () => {
    client.disconnect()
    child.kill('SIGKILL')
    await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  })
  await vi.waitUntil(
    async () => {
      const replicas = await client.call('SENTINEL', 'REPLICAS', 'mymaster').catch(() => [])
      return Array.isArray(replicas) && replicas.length === 1
    },
    { timeout: 15_000, interval: 50 },
  )
  return { url: `redis+sentinel://127.0.0.1:${port}/mymaster` }
}
