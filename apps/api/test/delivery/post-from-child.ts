import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import type { PostOutcome } from '../../src/delivery/post-signed.ts'

/**
 * Posts to each of these, one after the other, from a process that was started with this in its environment: Node reads
 * certificates and proxies from there once, at the start. Every name leads to loopback.
 */
export async function postFromChild(environment: Record<string, string>, urls: string[]): Promise<PostOutcome[]> {
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const child = fork(fileURLToPath(new URL('post-child.ts', import.meta.url)), urls, {
    execArgv: ['--import', loader],
    env: { ...process.env, ...environment },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [outcomes] = await once(child, 'message')
  return outcomes as PostOutcome[]
}
