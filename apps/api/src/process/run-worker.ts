import type { Worker } from 'node:cluster'
import type { Log } from './log.ts'
import { type ServeOptions, type Serving, serve } from './serve.ts'
import { isStartRefusal } from './start-refused.ts'
import { untilReachable } from './until-reachable.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

export type WorkerDeps = {
  /** This process, as the primary one sees it. */
  worker: Worker
  log: Log
  /** Ends this process. */
  exit: (code: number) => void
}

/** Serves as one of several processes: starts, drains and reports as the primary process says, and ends with it. */
export function runWorker({ worker, log, exit }: WorkerDeps): void {
  let serving: Serving | undefined
  let lastId = 0
  const exposing = new Map<number, (sum: { contentType: string; text: string }) => void>()

  const tell = (message: FromWorker): void => {
    if (worker.isConnected()) worker.send(message, () => {})
  }
  const exposeAll = (): Promise<{ contentType: string; text: string }> => {
    const id = ++lastId
    return new Promise((resolve) => {
      exposing.set(id, resolve)
      tell({ kind: 'expose', id })
    })
  }

  const start = async (options: ServeOptions): Promise<void> => {
    try {
      serving = await untilReachable(log, () => serve(options, log, exposeAll))
      tell({ kind: 'listening', port: serving.port })
    } catch (error) {
      if (!isStartRefusal(error)) throw error
      tell({ kind: 'refused', sentence: error.message })
    }
  }
  let ending = false
  const end = async (): Promise<void> => {
    if (ending) return
    ending = true
    await serving?.drain()
    exit(0)
  }

  worker.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'serve':
        void start(message.options)
        break
      case 'drain':
        void end()
        break
      case 'report':
        void serving?.report().then((report) => tell({ kind: 'reported', id: message.id, report }))
        break
      case 'exposition':
        exposing.get(message.id)?.(message)
        exposing.delete(message.id)
        break
    }
  })
  // Without the primary process nobody would replace, drain or end this one.
  worker.once('disconnect', () => void end())
  tell({ kind: 'started' })
}
