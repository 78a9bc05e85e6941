import {
  type ClaimStore,
  createMemoryStore,
  forgottenAt,
  type LedgerRecord,
  type MemoryStore,
  type RecordStore,
} from '@ranbook/rules'

type Clock = { now: () => number }

/** A ledger in memory that can forget. Its records carry no references: a search without digests finds none. */
export type ForgettingStore = RecordStore & {
  /** Forgets what `due` picks, and answers it. */
  forget(due: (record: LedgerRecord) => boolean): Promise<LedgerRecord[]>
  /** Every record that stands. */
  standing(): Promise<LedgerRecord[]>
}

/** One memory store per record, so that a record can go. */
export function createForgettingStore(clock: Clock): ForgettingStore {
  const cells = new Map<string, MemoryStore>()
  const cellOf = (digest: string): MemoryStore => {
    const cell = cells.get(digest) ?? createMemoryStore(clock)
    cells.set(digest, cell)
    return cell
  }
  const unused = (): never => {
    throw new Error('no history asks it')
  }
  const standing = async (): Promise<LedgerRecord[]> => {
    const found: LedgerRecord[] = []
    for (const [digest, cell] of cells) {
      const [outcome] = await cell.read([{ digest, claimToken: null }])
      if (outcome) found.push(outcome.record)
    }
    return found
  }

  return {
    insertIfAbsent: async (records) => one(records, (record) => cellOf(record.request.digest).insertIfAbsent([record])),
    read: async (requests) =>
      one(requests, async (request) => (await cells.get(request.digest)?.read([request])) ?? [null]),
    compareAndSet: async (changes) =>
      one(changes, async (change) => (await cells.get(change.record.digest)?.compareAndSet([change])) ?? [null]),
    completeClaimed: async (requests) =>
      one(requests, async (request) => (await cells.get(request.digest)?.completeClaimed([request])) ?? [null]),
    async search(filter) {
      const found = [...new Set(filter.digests ?? [])].flatMap((digest) => cells.get(digest) ?? [])
      const pages = await Promise.all(found.map((cell) => cell.search(filter)))
      return { rows: pages.flatMap(({ rows }) => rows), now: Math.floor(clock.now()) }
    },
    readHistory: async (digest) =>
      (await cells.get(digest)?.readHistory(digest)) ?? { attempts: [], lateCompletions: [] },
    async keepLateCompletions(late) {
      for (const item of late) await cells.get(item.digest)?.keepLateCompletions([item])
    },
    findExpired: unused,
    readFull: unused,
    addDuplicates: unused,
    standing,
    async forget(due) {
      const gone = (await standing()).filter(due)
      for (const { digest } of gone) cells.delete(digest)
      return gone
    },
  }
}

/** A window in memory: what its time is over for is gone at the next look. */
export type MemoryWindow = ClaimStore & { clear(): Promise<void> }

/** `asked` runs before every call, and may refuse it by throwing. */
export function createMemoryWindow(clock: Clock, asked: () => void = () => {}): MemoryWindow {
  const cells = createForgettingStore(clock)
  const look =
    <Items extends readonly unknown[], Answer>(call: (items: Items) => Promise<Answer>) =>
    async (items: Items): Promise<Answer> => {
      asked()
      await cells.forget((record) => (forgottenAt(record) ?? Number.POSITIVE_INFINITY) <= clock.now())
      return call(items)
    }
  return {
    insertIfAbsent: look(cells.insertIfAbsent),
    read: look(cells.read),
    compareAndSet: look(cells.compareAndSet),
    completeClaimed: look(cells.completeClaimed),
    clear: async () => void (await cells.forget(() => true)),
  }
}

async function one<Item, Answer>(items: readonly Item[], call: (item: Item) => Promise<Answer[]>): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const item of items) answers.push(...(await call(item)))
  return answers
}
