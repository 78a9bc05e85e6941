import { type Change, type ClaimStore, type CompleteRequest, type NewRecord, StoreError } from '@ranbook/rules'
import { createGatheringQueue, type GatheringQueue } from './gathering-queue.ts'

export type CoalesceOptions = {
  /** Gathered calls that run at once, over all methods; 2 at least, as claims leave one to the others. */
  inFlightMax: number
  /** A further call of a method beside one that runs is made for so many items, or after `gatherMaxMs` for fewer. */
  worthRows: number
  gatherMaxMs: number
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

/** A store whose concurrent calls are gathered. */
export type Coalesced<Store extends ClaimStore> = Store & {
  /** Items that wait for their call, by method. */
  queued(): Record<'claims' | 'reads' | 'completes' | 'changes', number>
}

/**
 * The same store for many concurrent callers: calls of `insertIfAbsent`, `read`, `completeClaimed` and `compareAndSet`
 * are gathered into few calls with many items. A call is sent at once where none of its method is in flight; else it waits
 * for others to travel with, for a few milliseconds at most while there is room. Settles go first, then reads, then claims.
 *
 * Waiting is bounded: a call that finds no room, or others waiting that nothing moves, is refused with `StoreError`
 * `overloaded` at once, and nothing of it is done. What a gathered call throws reaches the callers of that call only.
 */
export function coalesce<Store extends ClaimStore>(store: Store, options: CoalesceOptions): Coalesced<Store> {
  const { inFlightMax, batchRowsMax, batchBytesMax, waitMaxMs, monotonicMs, settleReserve } = options
  const { worthRows, gatherMaxMs } = options
  const bounds = { batchRowsMax, batchBytesMax, waitMaxMs, monotonicMs }
  const completes = createGatheringQueue({ ...bounds, answer: store.completeClaimed, bytesOf: bytesOfComplete })
  const changes = createGatheringQueue({ ...bounds, answer: store.compareAndSet, bytesOf: bytesOfChange })
  const reads = createGatheringQueue({ ...bounds, answer: store.read, bytesOf: () => rowBytes })
  const claims = createGatheringQueue({ ...bounds, answer: store.insertIfAbsent, bytesOf: bytesOfClaim })
  /** In the order in which they are served. `sentAt` is when the last of its calls was sent. */
  const kinds = [completes, changes, reads, claims].map((queue) => ({ queue, inFlight: 0, sentAt: 0 }))
  type Kind = (typeof kinds)[number]

  let inFlight = 0
  let movedAt = monotonicMs()
  let scheduled = false
  let gathering: NodeJS.Timeout | null = null

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
      const next = kinds.find(isDue)
      if (next === undefined) break
      void send(next)
    }
    if (gathering !== null || inFlight === inFlightMax || !kinds.some(hasRoom)) return
    gathering = setTimeout(() => {
      gathering = null
      fill()
    }, gatherMaxMs)
  }

  function hasRoom(kind: Kind): boolean {
    return kind.queue.rows > 0 && (kind.queue !== claims || kind.inFlight < inFlightMax - 1)
  }

  function isDue(kind: Kind): boolean {
    if (!hasRoom(kind)) return false
    return kind.inFlight === 0 || kind.queue.rows >= worthRows || monotonicMs() - kind.sentAt >= gatherMaxMs
  }

  async function send(kind: Kind): Promise<void> {
    inFlight += 1
    kind.inFlight += 1
    kind.sentAt = movedAt = monotonicMs()
    await kind.queue.send()
    movedAt = monotonicMs()
    inFlight -= 1
    kind.inFlight -= 1
    schedule()
  }

  function add<Item, Answer>(
    queue: GatheringQueue<Item, Answer>,
    items: readonly Item[],
    share: number,
  ): Promise<Answer[]> {
    let rows = 0
    let bytes = 0
    for (const waiting of kinds) {
      rows += waiting.queue.rows
      bytes += waiting.queue.bytes
    }
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
