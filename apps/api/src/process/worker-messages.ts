import type { MetricsReport } from './metrics.ts'
import type { ServeOptions } from './serve.ts'

/** What the primary process tells a worker. */
export type ToWorker =
  | { kind: 'serve'; options: ServeOptions }
  /** Finish what is in flight, then end. */
  | { kind: 'drain' }
  | { kind: 'report'; id: number }
  | { kind: 'exposition'; id: number; contentType: string; text: string }

/** What a worker tells the primary process. */
export type FromWorker =
  /** It listens to messages; those sent before are lost. */
  | { kind: 'started' }
  | { kind: 'listening'; port: number }
  /** It can't start; `sentence` is for the operator. */
  | { kind: 'refused'; sentence: string }
  | { kind: 'reported'; id: number; report: MetricsReport }
  /** Someone asked this worker for the metrics of all of them. */
  | { kind: 'expose'; id: number }
