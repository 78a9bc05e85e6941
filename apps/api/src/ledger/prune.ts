import { setTimeout as delay } from 'node:timers/promises'
import type { RetentionStore } from '@ranbook/rules'
import type { ClassBook } from './class-book.ts'
import { PoliciesStale } from './ledger-deps.ts'

/** A transaction of some 50 ms: claims beside it wait for the disk a little, and no longer for one record. */
const pruneBatchRecords = 2000
/** Batches of one class before others have their turn. */
const batchesPerTurn = 20
/** After a batch the database has as long to itself as the batch took, at least this. */
const pauseMinMs = 20

export type PruneDeps = {
  store: RetentionStore
  policies: Pick<ClassBook, 'policyFor' | 'placesKnown'>
  /** A clock that nobody can set, in ms. */
  monotonicMs: () => number
  /** Asked between batches: true ends the run. */
  stopping: () => boolean
}

/** What one class has due by its policy. */
type Task = { class: string; detailsMs: number | null; keysMs: number | null; tookMs: number; done: boolean }

/**
 * One run of retention over every class: erases details and forgets keys that are due, in small batches with pauses, the
 * classes in turns. Any number of processes may run it at once: of a class one of them works at a time. A class whose
 * policy can't be read is left alone. Throws `StoreError`; what was done until then stands.
 */
export async function prune(deps: PruneDeps): Promise<void> {
  const classes = await deps.store.classesSeen()
  let open = classes.flatMap((name) => taskOf(deps, name) ?? [])
  const tasks = open
  while (open.length > 0 && !deps.stopping()) {
    for (const task of open) await takeTurn(deps, task)
    open = open.filter(({ done }) => !done)
  }
  await deps.store.noteRun(tasks.filter(({ done }) => done))
  for (const [name, { ledgerHeld }] of deps.policies.placesKnown().places) {
    if (ledgerHeld && storeOf(deps, name) === 'window') await deps.store.releaseLedger(name)
  }
}

function taskOf(deps: PruneDeps, name: string): Task | null {
  try {
    const policy = deps.policies.policyFor(name)
    const { details_retention_ms: detailsMs, key_retention_ms: keysMs } = policy
    if (detailsMs === null && keysMs === null) return null
    return { class: name, detailsMs, keysMs, tookMs: 0, done: false }
  } catch (error) {
    if (error instanceof PoliciesStale) return null
    throw error
  }
}

function storeOf({ policies }: PruneDeps, name: string): 'ledger' | 'window' | null {
  try {
    return policies.policyFor(name).store
  } catch (error) {
    if (error instanceof PoliciesStale) return null
    throw error
  }
}

async function takeTurn(deps: PruneDeps, task: Task): Promise<void> {
  const startedAt = deps.monotonicMs()
  const { store } = deps
  // Keys first: what is forgotten needs no erasing.
  const steps = [
    task.keysMs === null ? null : (ms: number) => store.forgetKeys(task.class, ms, pruneBatchRecords),
    task.detailsMs === null ? null : (ms: number) => store.eraseDetails(task.class, ms, pruneBatchRecords),
  ]
  const ages = [task.keysMs, task.detailsMs]
  let left = false
  for (const [at, step] of steps.entries()) {
    const ageMs = ages[at] ?? null
    if (step === null || ageMs === null) continue
    let batches = 0
    let full = true
    while (full && batches < batchesPerTurn && !deps.stopping()) {
      const beganAt = deps.monotonicMs()
      const pruned = await step(ageMs)
      // Null: another process is at it, and goes on.
      full = pruned !== null && pruned === pruneBatchRecords
      batches += 1
      if (pruned) await delay(Math.max(pauseMinMs, deps.monotonicMs() - beganAt))
    }
    left ||= full
  }
  task.done = !left
  task.tookMs += deps.monotonicMs() - startedAt
}
