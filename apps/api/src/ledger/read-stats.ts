import { statsLimits } from '@ranbook/contract'
import { type ClassCounts, runTimeQuantile, type Scope, type StatsStore } from '@ranbook/rules'

export type ReadStatsDeps = {
  store: Pick<StatsStore, 'read'>
  /** The store's clock in ms. */
  now: () => number
}

/** What was asked; null: the default. Times in ms. */
export type StatsRequest = { from: number | null; to: number | null; stepMs: number | null; class: string | null }

/** One step, `at` its beginning. `runMs` null: nothing completed in it. */
export type StatsStepAnswer = { at: number; runMs: { p50: number; p95: number; p99: number } | null } & Omit<
  ClassCounts,
  'runTimes'
>

/** `refused`: the span or the number of steps can't be answered; `fault` says which parameter and why. */
export type StatsAnswer =
  | { kind: 'answered'; stepMs: number; steps: StatsStepAnswer[] }
  | { kind: 'consumer_bound' }
  | { kind: 'refused'; fault: { path: string; message: string } }

/**
 * What happened to the classes in the caller's scope, step by step, steps without any event included. Counts are over
 * all consumers, so a caller of one consumer is refused. Throws `StoreError`.
 */
export async function readStats(deps: ReadStatsDeps, scope: Scope, asked: StatsRequest): Promise<StatsAnswer> {
  if (scope.consumer !== null) return { kind: 'consumer_bound' }
  const to = asked.to ?? Math.floor(deps.now()) + 1
  const from = asked.from ?? to - statsLimits.defaultSpanMs
  const stepMs = asked.stepMs ?? statsLimits.defaultStepMs
  if (from < 0) return refused('from', 'must not lie before 1970')
  if (from >= to) return refused('from', 'must lie before to')
  const first = Math.floor(from / stepMs) * stepMs
  const count = Math.ceil((to - first) / stepMs)
  if (count > statsLimits.stepsMax) {
    return refused('step', `makes ${count} steps of this span; ask for at most ${statsLimits.stepsMax}`)
  }
  const filter = { scope, class: asked.class, from: first, to: first + count * stepMs, stepMs }
  const found = new Map((await deps.store.read(filter)).map((step) => [step.at, step]))
  const steps = Array.from({ length: count }, (_, place) => {
    const at = first + place * stepMs
    return stepOf(at, found.get(at) ?? nothing)
  })
  return { kind: 'answered', stepMs, steps }
}

const nothing: ClassCounts = {
  claims: 0,
  duplicates: 0,
  completed: 0,
  failed: 0,
  expired: 0,
  held: 0,
  mismatches: 0,
  runTimes: [],
}

function stepOf(at: number, { runTimes, ...counts }: ClassCounts): StatsStepAnswer {
  const p50 = runTimeQuantile(runTimes, 0.5)
  const p95 = runTimeQuantile(runTimes, 0.95)
  const p99 = runTimeQuantile(runTimes, 0.99)
  return { ...counts, at, runMs: p50 === null || p95 === null || p99 === null ? null : { p50, p95, p99 } }
}

function refused(path: string, message: string): StatsAnswer {
  return { kind: 'refused', fault: { path, message } }
}
