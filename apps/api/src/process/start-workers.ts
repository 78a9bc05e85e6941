import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from './backoff.ts'
import { workerLimitMs } from './drain-limits.ts'
import { fixedPort } from './fixed-port.ts'
import type { Log } from './log.ts'
import type { ServeOptions } from './serve.ts'
import { StartRefused } from './start-refused.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'
import { gatherWorkerReports } from './worker-reports.ts'

/** A worker that served this long was healthy: its end starts the backoff anew. */
const healthyMs = 10_000

export type Workers = {
  /** The port they share, once all of them listen. Rejects with StartRefused when one can't; the others go on. */
  port: Promise<number>
  /** Ends them all, those too that are starting: 9.5 s at most, then they are killed. */
  drain(): Promise<void>
}

/**
 * Serves with `count` processes that share the port. One that ends by itself is logged as an error and replaced, the
 * sooner the longer it had served.
 */
export function startWorkers(count: number, options: ServeOptions, log: Log): Workers {
  const live = new Set<Worker>()
  const reports = gatherWorkerReports()
  let draining = false
  let failures = 0
  const shared = fixedPort(options.host, options.port).then((port) => ({ ...options, port }))

  const fork = (): Promise<number> => {
    const worker = cluster.fork()
    const startedAt = performance.now()
    live.add(worker)
    return new Promise((resolve, reject) => {
      let listening = false
      worker.on('message', (message: FromWorker) => {
        switch (message.kind) {
          case 'started':
            // Told before it listened, it did not hear that all shall end.
            void shared.then((told) => tell(worker, draining ? { kind: 'drain' } : { kind: 'serve', options: told }))
            break
          case 'listening':
            listening = true
            resolve(message.port)
            break
          case 'refused':
            reject(new StartRefused(message.sentence))
            // What one that was to replace another can't do now may work later: its end has it tried again.
            if (started) tell(worker, { kind: 'drain' })
            break
          case 'reported':
            reports.reported(message)
            break
          case 'expose':
            void reports
              .exposition([...live])
              .then((sum) => tell(worker, { kind: 'exposition', id: message.id, ...sum }))
            break
        }
      })
      worker.once('exit', (exitCode, signal) => {
        live.delete(worker)
        if (draining) return
        log.error(
          { worker: worker.id, worker_pid: worker.process.pid, exit_code: exitCode, signal },
          'A worker process ended unexpectedly',
        )
        reject(new StartRefused('A worker process ended at its start; the log says why.'))
        if (performance.now() - startedAt > healthyMs) failures = 0
        if (listening || started) void replace()
      })
    })
  }

  const replace = async (): Promise<void> => {
    const retryInMs = backoffMs(failures++)
    await delay(retryInMs)
    if (draining) return
    await fork().then(
      () => log.info({}, 'A worker process was replaced'),
      (error: unknown) => log.error({ error }, 'A worker process could not be replaced'),
    )
  }

  const drain = async (): Promise<void> => {
    draining = true
    const left = [...live]
    const ended = Promise.all(left.map((worker) => new Promise((resolve) => worker.once('exit', resolve))))
    for (const worker of left) tell(worker, { kind: 'drain' })
    const limit = new AbortController()
    await Promise.race([ended, delay(workerLimitMs, undefined, { signal: limit.signal }).catch(() => undefined)])
    limit.abort()
    for (const worker of live) {
      log.warn(
        { worker: worker.id, worker_pid: worker.process.pid },
        'A worker process did not end in time; it is killed',
      )
      worker.process.kill('SIGKILL')
    }
    await ended
  }

  let started = false
  // The workers need no input, and one that held it open would hide its end from the primary process.
  cluster.setupPrimary({ stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const port = Promise.all(Array.from({ length: count }, fork)).then(([first]) => {
    started = true
    return first ?? options.port
  })
  return { port, drain }
}

/** A worker that has just gone hears nothing; its end is noticed where it is waited for. */
function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
