import { type RecordStore, StoreError } from '@ranbook/rules'
import { ledgerOn } from '../conformance/ledger-on.ts'
import { applyOperation, type OperationAnswer } from './apply-operation.ts'
import { createOperationSource, type HistoryClass, historyPolicies, type Operation } from './random-operations.ts'
import { type SeededRandom, seededRandom } from './seeded-random.ts'

/** One operation as its caller saw it: invoked and answered by one monotonic clock, in ms. */
export type HistoryEntry = {
  invokedAt: number
  answeredAt: number
  operation: Exclude<Operation, { do: 'wait' }>
  answer: OperationAnswer
}

export type ConcurrentHistory = {
  store: RecordStore
  clockPasses(time: number): Promise<void>
  /** Clock of the callers, in ms. It never steps back. */
  monotonicMs(): number
  seed: number
  /** Tells the keys of this history from others in the same store. */
  name: string
  callers: number
  operations: number
}

/**
 * Lets many callers ask random operations of a few keys at once and returns what each of them saw. A record that
 * changes too fast to be decided (`overloaded`) was not changed by that operation, so it leaves no entry.
 */
export async function concurrentHistory(options: ConcurrentHistory): Promise<HistoryEntry[]> {
  const { store, seed, callers, monotonicMs } = options
  const source = createOperationSource(options.name)
  const entries: HistoryEntry[] = []
  let left = options.operations

  async function call(random: SeededRandom): Promise<void> {
    const deps = ledgerOn(store, (name) => historyPolicies[name as HistoryClass], random.next)
    while (left > 0) {
      left -= 1
      const operation = source.draw(random)
      if (operation.do === 'wait') {
        await leaseOver(operation.digest)
        continue
      }
      const invokedAt = monotonicMs()
      const answer = await applyOperation(deps, operation).catch((error: unknown) => {
        if (error instanceof StoreError && error.code === 'overloaded') return 'overloaded' as const
        throw error
      })
      if (answer === 'overloaded') continue
      entries.push({ invokedAt, answeredAt: monotonicMs(), operation, answer })
      if (answer !== null && 'outcome' in answer) source.observe(answer.record)
    }
  }

  async function leaseOver(digest: string): Promise<void> {
    const [found] = await store.read([{ digest, claimToken: null }])
    const end = found?.record.leaseExpiresAt ?? null
    // Leases of a minute are there to stay live.
    if (found && end !== null && end - found.now < 1000) await options.clockPasses(end)
  }

  await Promise.all(Array.from({ length: callers }, (_, at) => call(seededRandom(seed + at * 7919))))
  return entries
}
