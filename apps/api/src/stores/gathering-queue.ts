import { StoreError } from '@ranbook/rules'

/** A queue of calls whose items are answered by one call for many. */
export type GatheringQueue<Item, Answer> = {
  /** Items that wait, and about how much memory they take. */
  readonly rows: number
  readonly bytes: number
  /** Answers the items of this call, in order. Rejects with what the gathered call threw. */
  add(items: readonly Item[]): Promise<Answer[]>
  /**
   * Sends the oldest calls, as many as fit into one batch (one at least, however many items it has). Calls that waited
   * for too long are refused instead. Resolves when the batch is answered, and never rejects.
   */
  send(): Promise<void>
}

export type GatheringOptions<Item, Answer> = {
  answer: (items: Item[]) => Promise<Answer[]>
  bytesOf: (item: Item) => number
  batchRowsMax: number
  batchBytesMax: number
  waitMaxMs: number
  /** A clock that never steps back. */
  monotonicMs: () => number
}

type Waiting<Item, Answer> = {
  items: readonly Item[]
  bytes: number
  since: number
  resolve: (answers: Answer[]) => void
  reject: (error: unknown) => void
}

/** See `GatheringQueue`. It bounds nothing: whoever adds looks at `rows` and `bytes` first. */
export function createGatheringQueue<Item, Answer>(
  options: GatheringOptions<Item, Answer>,
): GatheringQueue<Item, Answer> {
  const { answer, bytesOf, batchRowsMax, batchBytesMax, waitMaxMs, monotonicMs } = options
  let waiting: Waiting<Item, Answer>[] = []
  let rows = 0
  let bytes = 0

  function take(): Waiting<Item, Answer>[] {
    const taken: Waiting<Item, Answer>[] = []
    const oldestAllowed = monotonicMs() - waitMaxMs
    let takenRows = 0
    let takenBytes = 0
    let seen = 0
    for (const call of waiting) {
      const isTooMuch = takenRows + call.items.length > batchRowsMax || takenBytes + call.bytes > batchBytesMax
      if (taken.length > 0 && isTooMuch) break
      seen += 1
      rows -= call.items.length
      bytes -= call.bytes
      if (call.since < oldestAllowed) {
        call.reject(new StoreError('overloaded', `waited ${waitMaxMs} ms for a place in a statement`))
        continue
      }
      taken.push(call)
      takenRows += call.items.length
      takenBytes += call.bytes
    }
    waiting = waiting.slice(seen)
    return taken
  }

  return {
    get rows() {
      return rows
    },
    get bytes() {
      return bytes
    },

    add(items) {
      let added = 0
      for (const item of items) added += bytesOf(item)
      rows += items.length
      bytes += added
      return new Promise((resolve, reject) => {
        waiting.push({ items, bytes: added, since: monotonicMs(), resolve, reject })
      })
    },

    async send() {
      const calls = take()
      if (calls.length === 0) return
      try {
        const answers = await answer(calls.flatMap(({ items }) => items))
        let from = 0
        for (const { items, resolve } of calls) {
          resolve(answers.slice(from, from + items.length))
          from += items.length
        }
      } catch (error) {
        for (const { reject } of calls) reject(error)
      }
    },
  }
}
