import type { Worker } from 'node:cluster'
import { AggregatorRegistry, Registry } from 'prom-client'
import type { MetricsReport } from './metrics.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

/** A worker that can't answer in this time is too busy to be counted; the others are shown without it. */
const reportLimitMs = 1000

export type WorkerReports = {
  /** Takes a report that arrived. */
  reported(message: Extract<FromWorker, { kind: 'reported' }>): void
  /** Metrics of all these workers added up, as far as they answer within a second. */
  exposition(workers: readonly Worker[]): Promise<{ contentType: string; text: string }>
}

/** Gathers the metrics of several processes: each asked has the whole answer, whichever worker got the request. */
export function gatherWorkerReports(): WorkerReports {
  let lastId = 0
  const waiting = new Map<number, (report: MetricsReport | null) => void>()

  const ask = (worker: Worker): Promise<MetricsReport | null> => {
    const id = ++lastId
    const message: ToWorker = { kind: 'report', id }
    return new Promise<MetricsReport | null>((resolve) => {
      const timer = setTimeout(resolve, reportLimitMs, null)
      waiting.set(id, (report) => {
        clearTimeout(timer)
        resolve(report)
      })
      // A worker that has just gone reports nothing, and the time limit answers for it.
      worker.send(message, () => {})
    }).finally(() => waiting.delete(id))
  }

  return {
    reported: ({ id, report }) => waiting.get(id)?.(report),
    exposition: async (workers) => {
      const reports = (await Promise.all(workers.map(ask))).filter((report) => report !== null)
      const sum = AggregatorRegistry.aggregate(reports)
      return { contentType: Registry.PROMETHEUS_CONTENT_TYPE, text: await sum.metrics() }
    },
  }
}
