import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import type { ChildOrder, ChildReport } from './embedded-child.ts'

/** A child process that uses the embedded database. It is killed when the test that started it is over. */
export type Child = {
  readonly process: ChildProcess
  /** What it reported about opening the database. */
  readonly opened: ChildReport
  /** Sends an order and waits for the report on it. */
  tell(order: ChildOrder): Promise<ChildReport>
  /** kill -9, awaited. */
  kill(): Promise<void>
}

/** Starts a child and waits until it has opened the database of the folder, or was refused it. */
export async function startChild(dataDir: string, uid?: number): Promise<Child> {
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const script = fileURLToPath(new URL('embedded-child.ts', import.meta.url))
  const child = fork(script, [dataDir, ...(uid === undefined ? [] : [String(uid)])], {
    execArgv: ['--import', loader],
    // A process group of its own, so that a test can signal the whole group as a terminal does.
    detached: true,
  })
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const report = (): Promise<ChildReport> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null, signal: string | null): void =>
        reject(new Error(`The child ended without a report (${code ?? signal})`))
      child.once('exit', onExit)
      child.once('message', (message) => {
        child.off('exit', onExit)
        resolve(message as ChildReport)
      })
    })
  const opened = await report()
  return {
    process: child,
    opened,
    kill,
    tell(order) {
      child.send(order)
      return report()
    },
  }
}
