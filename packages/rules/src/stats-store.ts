import type { Scope } from './scope.ts'

/** What happened to a class in a span. `runTimes`: completed attempts by `runTimeBucket`, trailing zeros left out. */
export type ClassCounts = {
  claims: number
  duplicates: number
  completed: number
  failed: number
  expired: number
  held: number
  mismatches: number
  runTimes: number[]
}

/** `minute`: its beginning in ms, by the clock of the store that the events happened in. */
export type ClassMinute = { class: string; minute: number; counts: ClassCounts }

/** `from` inclusive, `to` exclusive, in ms. `class` null: the sum over the scope. */
export type StatsFilter = { scope: Scope; class: string | null; from: number; to: number; stepMs: number }

/** Where counts by class and minute stand. Throws `StoreError`; only after `overloaded` is it certain that nothing was written. */
export type StatsStore = {
  /** Adds to what stands, whoever else does; all or nothing. No class and minute twice. */
  add(minutes: readonly ClassMinute[]): Promise<void>
  /** By steps that begin at whole multiples of `stepMs`; those without any count are left out. */
  read(filter: StatsFilter): Promise<({ at: number } & ClassCounts)[]>
  /** Forgets minutes that lie `keptMs` back, the oldest first, at most `limit`; answers how many. */
  forget(keptMs: number, limit: number): Promise<number>
}
