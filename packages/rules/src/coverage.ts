import type { Verdict } from '@ranbook/contract'

/** A class that a lookup asked; `firstSeenAt` is its first claim by a consumer asked, null when there was none yet. */
export type AskedClass = { class: string; firstSeenAt: number | null }

/** How far back a class is known in full. `gap` says why that does not answer what was asked, null when it does. */
export type Coverage = { class: string; completeSince: number; gap: CoverageGap | null }

/**
 * `never_claimed`: by no consumer asked, so that the name may be a slip of the pen; `ledger_newer`: the ledger began
 * after the time asked; `time_ahead`: that time has not come yet; `class_newer`: the class was first claimed after it.
 */
export type CoverageGap =
  | { kind: 'never_claimed' }
  | { kind: 'ledger_newer' }
  | { kind: 'time_ahead' }
  | { kind: 'class_newer'; firstSeenAt: number }

/**
 * What a permanent ledger that began at `beganAt` knows at `checkedAt` of each class at the time asked (`at`, null:
 * since it began). A class nobody had claimed by then may have run without the ledger, so its silence proves nothing.
 */
export function coverageOf(
  classes: readonly AskedClass[],
  known: { beganAt: number; checkedAt: number },
  at: number | null,
): Coverage[] {
  return classes.map(({ class: name, firstSeenAt }) => ({
    class: name,
    completeSince: known.beganAt,
    gap: firstSeenAt === null ? { kind: 'never_claimed' } : at === null ? null : gapAt(firstSeenAt, known, at),
  }))
}

function gapAt(
  firstSeenAt: number,
  { beganAt, checkedAt }: { beganAt: number; checkedAt: number },
  at: number,
): CoverageGap | null {
  if (at < beganAt) return { kind: 'ledger_newer' }
  if (at > checkedAt) return { kind: 'time_ahead' }
  return firstSeenAt > at ? { kind: 'class_newer', firstSeenAt } : null
}

/**
 * What is said where no record was found. `never` needs every class asked to be complete for the time asked. Where none
 * was asked at all, a question about a time, or one that was limited to what never claimed here, is `unknown` too.
 */
export function verdictWithoutRecord(
  coverage: readonly Coverage[],
  asked: { at: number | null; limited: boolean },
): 'never' | 'unknown' {
  if (coverage.some(({ gap }) => gap !== null)) return 'unknown'
  return coverage.length === 0 && (asked.at !== null || asked.limited) ? 'unknown' : 'never'
}

/** The order in which verdicts outweigh each other: what may have run outweighs what has not. */
const outweighing = [
  'ran_again',
  'ran',
  'ran_details_erased',
  'running',
  'interrupted',
  'held',
  'failed',
  'dead',
  'ready',
  'skipped',
  'unknown',
  'never',
] as const satisfies readonly Verdict[]

/** One verdict over all: the one that outweighs the others. Throws on an empty list, which answers nothing. */
export function overallVerdict(verdicts: readonly Verdict[]): Verdict {
  const overall = outweighing.find((verdict) => verdicts.includes(verdict))
  if (overall === undefined) throw new Error('there is no verdict over nothing')
  return overall
}
