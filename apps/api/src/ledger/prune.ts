import { setTimeout as delay } from 'node:timers/promises'
import { type Retention, type RetentionStore, StoreError } from '@ranbook/rules'
import type { ClassBook } from './class-book.ts'
import { PoliciesStale } from './ledger-deps.ts'

/** A transaction of some 50 ms: claims beside it wait for the disk a little, and no longer for one record. */
const batchRecordsMax = 2000
/**
 * Records with many attempts make long batches, and so does a busy database: the next one of the class is half as large,
 * and after one that took a quarter of the time twice as large again.
 */
const slowBatchMs = 400
/** Batches of one class before others have their turn. */
const batchesPerTurn = 20
/** After a batch the database has as long to itself as the batch took, at least this. */
const pauseMinMs = 20

export type PruneDeps = {
  store: RetentionStore
  policies: Pick<ClassBook, 'policyFor' | 'placesKnown' | 'requireFresh'>
  /** A clock that nobody can set, in ms. */
  monotonicMs: () => number
  /** Asked between batches: true ends the run. */
  stopping: () => boolean
}

/** What became of a class: nothing more is due, another process is at it, it could not be done, or there is more. */
type TaskState = 'open' | 'done' | 'others' | 'failed'
type Task = { class: string; batchRecords: number; tookMs: number; state: TaskState }

/**
 * One run of retention over every class: erases details and forgets keys that are due, in small batches with pauses, the
 * classes in turns. Each batch goes by the policy that is in force then. Any number of processes may run it at once: of a
 * class one of them works at a time. A class whose policy can't be read is left alone, and one that can't be done keeps no
 * other from being done: its error is thrown at the end. Throws `StoreError` and `PoliciesStale` at once; what was done
 * until then stands.
 */
export async function prune(deps: PruneDeps): Promise<void> {
  const tasks = (await deps.store.classesSeen())
    .filter((name) => retentionOf(deps, name) !== null)
    .map((name): Task => ({ class: name, batchRecords: batchRecordsMax, tookMs: 0, state: 'open' }))
  const failures: unknown[] = []
  for (let open = tasks; open.length > 0 && !deps.stopping(); open = open.filter(({ state }) => state === 'open')) {
    for (const task of open) {
      await takeTurn(deps, task).catch((error: unknown) => {
        if (error instanceof PoliciesStale || isAway(error)) throw error
        task.state = 'failed'
        failures.push(error)
      })
    }
  }
  await deps.store.noteRun(tasks.filter(({ state }) => state === 'done'))
  for (const [name, { ledgerHeld }] of deps.policies.placesKnown().places) {
    if (ledgerHeld && policyOf(deps, name)?.store === 'window') await deps.store.releaseLedger(name)
  }
  if (failures.length > 0) throw failures[0]
}

/** No other class would fare better. */
function isAway(error: unknown): boolean {
  return error instanceof StoreError && error.code !== 'overloaded'
}

function policyOf({ policies }: PruneDeps, name: string) {
  try {
    return policies.policyFor(name)
  } catch (error) {
    if (error instanceof PoliciesStale) return null
    throw error
  }
}

/** Null where nothing is ever due. */
function retentionOf(deps: PruneDeps, name: string): Retention | null {
  const policy = policyOf(deps, name)
  return policy?.details_retention_ms == null && policy?.key_retention_ms == null ? null : policy
}

async function takeTurn(deps: PruneDeps, task: Task): Promise<void> {
  const startedAt = deps.monotonicMs()
  for (let batches = 0; task.state === 'open' && batches < batchesPerTurn && !deps.stopping(); batches++) {
    const beganAt = deps.monotonicMs()
    const count = await pruneBatch(deps, task).catch((error: unknown) => {
      // It took too long, or met a lock: fewer records take less.
      if (!(error instanceof StoreError) || isAway(error) || task.batchRecords === 1) throw error
      task.batchRecords = Math.ceil(task.batchRecords / 8)
      return 'again' as const
    })
    const lastedMs = deps.monotonicMs() - beganAt
    if (lastedMs > slowBatchMs) task.batchRecords = Math.ceil(task.batchRecords / 2)
    else if (lastedMs * 4 < slowBatchMs) task.batchRecords = Math.min(batchRecordsMax, task.batchRecords * 2)
    if (count === null) task.state = 'others'
    else if (count === 0) task.state = 'done'
    else await delay(Math.max(pauseMinMs, lastedMs))
  }
  task.tookMs += deps.monotonicMs() - startedAt
}

/** How many records it changed; null where another process is at the class. */
async function pruneBatch(deps: PruneDeps, task: Task): Promise<number | null> {
  // By older ones a key could be forgotten that shall be kept since.
  deps.policies.requireFresh()
  const retention = retentionOf(deps, task.class)
  if (retention === null) return 0
  const { key_retention_ms: keysMs, details_retention_ms: detailsMs } = retention
  // Keys first: what is forgotten needs no erasing.
  const forgotten = keysMs === null ? 0 : await deps.store.forgetKeys(task.class, keysMs, task.batchRecords)
  if (forgotten !== 0 || detailsMs === null) return forgotten
  return deps.store.eraseDetails(task.class, detailsMs, task.batchRecords)
}
