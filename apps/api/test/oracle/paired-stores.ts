import { createMemoryStore, type MemoryStore, type RecordStore } from '@ranbook/rules'

/** The calls of the ledger's verbs, which the two stores must be asked alike. */
type Asked =
  | 'insertIfAbsent'
  | 'read'
  | 'compareAndSet'
  | 'completeClaimed'
  | 'findExpired'
  | 'addDuplicates'
  | 'keepLateCompletions'

/** A store that is asked first, and an oracle that is then asked the same at the same time. */
export type PairedStores = {
  asked: RecordStore
  oracle: RecordStore
  /** The oracle itself, its clock where the last call left it. */
  memory: MemoryStore
  setClock(now: number): void
  /** Throws where the oracle was not asked everything that the store was. */
  finishOperation(): void
}

/**
 * Pairs a store with a memory store whose clock shows, call by call, the time that the store answered with: so both
 * judge every lease at the same moment, and their answers must be equal.
 */
export function pairStores(store: RecordStore): PairedStores {
  const calls: { method: Asked; answer: unknown }[] = []
  let now = 0
  const memory = createMemoryStore({ now: () => now })

  const record =
    <Arguments extends unknown[], Answer>(method: Asked, call: (...asked: Arguments) => Promise<Answer>) =>
    async (...asked: Arguments): Promise<Answer> => {
      const answer = await call(...asked)
      calls.push({ method, answer })
      return answer
    }
  /** The store's answer to the call that the oracle is to be asked now; its clock is then the oracle's. */
  function take(method: Asked): unknown {
    const made = calls.shift()
    if (made?.method !== method) {
      throw new Error(`the oracle's ledger calls ${method} where the store's called ${made?.method ?? 'nothing'}`)
    }
    now = itemsOf(made.answer)[0]?.now ?? now
    return made.answer
  }
  const replay =
    <Arguments extends unknown[], Answer>(method: Asked, call: (...asked: Arguments) => Promise<Answer>) =>
    (...asked: Arguments): Promise<Answer> => {
      take(method)
      return call(...asked)
    }

  /** A store may look first and read afterwards: what expired in between it need not have found. */
  async function findExpired(limit: number) {
    const before = now
    const known = new Set(itemsOf(take('findExpired')).map((item) => item.record?.digest))
    const found = await memory.findExpired(limit)
    return found.filter(({ record }) => (record.sweepAt ?? 0) <= before || known.has(record.digest))
  }

  return {
    asked: {
      ...store,
      insertIfAbsent: record('insertIfAbsent', store.insertIfAbsent),
      read: record('read', store.read),
      compareAndSet: record('compareAndSet', store.compareAndSet),
      completeClaimed: record('completeClaimed', store.completeClaimed),
      findExpired: record('findExpired', store.findExpired),
      addDuplicates: record('addDuplicates', store.addDuplicates),
      keepLateCompletions: record('keepLateCompletions', store.keepLateCompletions),
    },
    oracle: {
      ...memory,
      insertIfAbsent: replay('insertIfAbsent', memory.insertIfAbsent),
      read: replay('read', memory.read),
      compareAndSet: replay('compareAndSet', memory.compareAndSet),
      completeClaimed: replay('completeClaimed', memory.completeClaimed),
      findExpired,
      addDuplicates: replay('addDuplicates', memory.addDuplicates),
      keepLateCompletions: replay('keepLateCompletions', memory.keepLateCompletions),
    },
    memory,
    setClock: (time) => {
      now = time
    },
    finishOperation: () => {
      if (calls.length > 0) throw new Error(`the oracle's ledger never called ${calls.map(({ method }) => method)}`)
    },
  }
}

/** The items of an answer to an array call, as far as they tell a time and a record. */
function itemsOf(answer: unknown): { now?: number; record?: { digest: string } }[] {
  return Array.isArray(answer) ? answer.filter((item) => item !== null) : []
}
