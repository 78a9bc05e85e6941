import { type Change, type CompleteRequest, type NewRecord, type RecordStore, StoreError } from '@ranbook/rules'
import { createGatheringQueue, type GatheringQueue } from './gathering-queue.ts'

export type CoalesceOptions = {
  /** Gathered calls that run at once, over all methods; 2 at least, as claims leave one to the others. */
  inFlightMax: number
  /** Items of one gathered call; a single call with more is passed on whole. */
  batchRowsMax: number
  /** What a gathered call may hold of payloads, results and errors, likewise. */
  batchBytesMax: number
  /** Items that may wait, over all methods. */
  queuedRowsMax: number
  /** What waiting items may hold of payloads, results and errors. */
  queuedBytesMax: number
  /** The share of both bounds that claims leave to settles and to the reads that these need. */
  settleReserve: number
  /** A call that waited longer is refused when its turn comes. */
  waitMaxMs: number
  /** Where calls wait and none was sent or answered for this long, further ones are refused at once. */
  stalledMs: number
  /** A clock that never steps back. */
  monotonicMs: () => number
}

export type CoalescedStore = RecordStore & {
  /** Items that wait for their call, by method. */
  queued(): Record<'claims' | 'reads' | 'completes' | 'changes', number>
}

/**
 * The same store for many concurrent callers: calls of `insertIfAbsent`, `read`, `completeClaimed` and `compareAndSet`
 * are gathered into few calls with many items. A call is sent at once while there is room in flight; else it waits and
 * travels with the others that came meanwhile. Settles go first, then reads, then claims.
 *
 * Waiting is bounded: a call that finds no room, or others waiting that nothing moves, is refused with `StoreError`
 * `overloaded` at once, and nothing of it is done. What a gathered call throws reaches the callers of that call only.
 */
export function coalesce(store: RecordStore, options: CoalesceOptions): CoalescedStore {
  const { inFlightMax, batchRowsMax, batchBytesMax, waitMaxMs, monotonicMs, settleReserve } = options
  const bounds = { batchRowsMax, batchBytesMax, waitMaxMs, monotonicMs }
  const completes = createGatheringQueue({ ...bounds, answer: store.completeClaimed, bytesOf: bytesOfComplete })
  const changes = createGatheringQueue({ ...bounds, answer: store.compareAndSet, bytesOf: bytesOfChange })
  const reads = createGatheringQueue({ ...bounds, answer: store.read, bytesOf: () => rowBytes })
  const claims = createGatheringQueue({ ...bounds, answer: store.insertIfAbsent, bytesOf: bytesOfClaim })
  /** In the order in which they are served. */
  const queues = [completes, changes, reads, claims]

  let inFlight = 0
  let claimsInFlight = 0
  let movedAt = monotonicMs()
  let scheduled = false

  /** Sends after what this turn of the event loop brings, so that what arrives together travels together. */
  function schedule(): void {
    if (scheduled || inFlight === inFlightMax) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      fill()
    })
  }

  function fill(): void {
    while (inFlight < inFlightMax) {
      const next = queues.find((queue) => queue.rows > 0 && (queue !== claims || claimsInFlight < inFlightMax - 1))
      if (next === undefined) return
      void send(next)
    }
  }

  async function send(queue: { send(): Promise<void> }): Promise<void> {
    const claiming = queue === claims ? 1 : 0
    inFlight += 1
    claimsInFlight += claiming
    movedAt = monotonicMs()
    await queue.send()
    movedAt = monotonicMs()
    inFlight -= 1
    claimsInFlight -= claiming
    schedule()
  }

  function add<Item, Answer>(
    queue: GatheringQueue<Item, Answer>,
    items: readonly Item[],
    share: number,
  ): Promise<Answer[]> {
    const rows = queues.reduce((sum, { rows }) => sum + rows, 0)
    const bytes = queues.reduce((sum, { bytes }) => sum + bytes, 0)
    if (rows >= options.queuedRowsMax * share || bytes >= options.queuedBytesMax * share) {
      return Promise.reject(new StoreError('overloaded', `${rows} items with ${bytes} bytes wait already`))
    }
    if (items.length === 0) return Promise.resolve([])
    if (queue.rows > 0 && inFlight > 0 && monotonicMs() - movedAt > options.stalledMs) {
      return Promise.reject(new StoreError('overloaded', `nothing was answered for ${options.stalledMs} ms`))
    }
    const answers = queue.add(items)
    schedule()
    return answers
  }

  return {
    ...store,
    completeClaimed: (requests) => add(completes, requests, 1),
    compareAndSet: (list) => add(changes, list, 1),
    read: (requests) => add(reads, requests, 1),
    insertIfAbsent: (records) => add(claims, records, 1 - settleReserve),
    queued: () => ({ claims: claims.rows, reads: reads.rows, completes: completes.rows, changes: changes.rows }),
  }
}

/** What an item takes beside the texts that can be long. */
const rowBytes = 500

function bytesOfClaim({ request }: NewRecord): number {
  return rowBytes + (request.details.payload?.length ?? 0)
}

function bytesOfComplete({ result }: CompleteRequest): number {
  return rowBytes + (result?.length ?? 0)
}

function bytesOfChange({ record, fill }: Change): number {
  return rowBytes + (record.result?.length ?? 0) + (record.error?.length ?? 0) + (fill?.payload?.length ?? 0)
}
