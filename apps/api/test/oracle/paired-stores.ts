import { createMemoryStore, type MemoryStore, type RecordStore } from '@ranbook/rules'

/** The calls of the ledger's verbs, which the two stores must be asked alike. */
type Asked =
  | 'insertIfAbsent'
  | 'read'
  | 'compareAndSet'
  | 'completeClaimed'
  | 'findExpired'
  | 'addDuplicates'
  | 'keepLateCompletion'

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
  const calls: { method: Asked; now: number | null }[] = []
  let now = 0
  const memory = createMemoryStore({ now: () => now })

  const record =
    <Arguments extends unknown[], Answer>(method: Asked, call: (...asked: Arguments) => Promise<Answer>) =>
    async (...asked: Arguments): Promise<Answer> => {
      const answer = await call(...asked)
      calls.push({ method, now: timeIn(answer) })
      return answer
    }
  const replay =
    <Arguments extends unknown[], Answer>(method: Asked, call: (...asked: Arguments) => Promise<Answer>) =>
    (...asked: Arguments): Promise<Answer> => {
      const made = calls.shift()
      if (made?.method !== method) {
        throw new Error(`the oracle's ledger calls ${method} where the store's called ${made?.method ?? 'nothing'}`)
      }
      now = made.now ?? now
      return call(...asked)
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
      keepLateCompletion: record('keepLateCompletion', store.keepLateCompletion),
    },
    oracle: {
      ...memory,
      insertIfAbsent: replay('insertIfAbsent', memory.insertIfAbsent),
      read: replay('read', memory.read),
      compareAndSet: replay('compareAndSet', memory.compareAndSet),
      completeClaimed: replay('completeClaimed', memory.completeClaimed),
      findExpired: replay('findExpired', memory.findExpired),
      addDuplicates: replay('addDuplicates', memory.addDuplicates),
      keepLateCompletion: replay('keepLateCompletion', memory.keepLateCompletion),
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

/** The store's clock in the answer to a call of single items; null where the answer tells no time. */
function timeIn(answer: unknown): number | null {
  const [first] = Array.isArray(answer) ? answer : []
  return typeof first === 'object' && first !== null && typeof first.now === 'number' ? first.now : null
}
