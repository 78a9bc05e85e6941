import type { Verdict } from '@ranbook/contract'
import type { ClassEra, ClassPlaces, WindowLoss, WindowLossCause } from './placement.ts'
import type { WindowPlace } from './record.ts'

/** A class that a lookup asked; `firstSeenAt` is its first claim by a consumer asked, null when there was none yet. */
export type AskedClass = { class: string; firstSeenAt: number | null }

/** How a class was and is kept. Times in ms by the ledger's clock. */
export type ClassKept = {
  /** Oldest first, at least one: of a class that never moved, its policy's store from the start. */
  eras: readonly [ClassEra, ...ClassEra[]]
  places: ClassPlaces | null
  /** Retention may have forgotten keys that settled until then; null: it forgot none. */
  keysCompleteSince: number | null
}

/** What an answer about silence rests on, in one snapshot taken after the records were read. `losses`: without outages. */
export type KeptFacts = { now: number; classes: ReadonlyMap<string, ClassKept>; losses: readonly WindowLoss[] }

/** How far back a class is known in full. `gap` says why that does not answer what was asked, null when it does. */
export type Coverage = {
  class: string
  /** Where it is kept now. */
  store: ClassEra['store']
  /** Everything claimed since then is known. In ms. */
  completeSince: number
  /** Why no longer than that; null: since the ledger began. */
  limit: CoverageLimit | null
  gap: CoverageGap | null
}

/**
 * `window_over`: a window of `windowMs` forgets older runs; `window_lost`: a window lost what it had been told before the
 * end of that span; `window_unreachable`: it can't be asked now; `keys_forgotten`: retention forgets what settled before.
 */
export type CoverageLimit =
  | { kind: 'window_over'; windowMs: number }
  | { kind: 'window_lost'; cause: WindowLossCause; fromAt: number; toAt: number }
  | { kind: 'window_unreachable' }
  | { kind: 'keys_forgotten' }

/**
 * `never_claimed`: by no consumer asked, so that the name may be a slip of the pen; `ledger_newer`: the ledger began
 * after the time asked; `time_ahead`: that time has not come yet; `class_newer`: the class was first claimed after it.
 */
export type CoverageGap =
  | { kind: 'never_claimed' }
  | { kind: 'ledger_newer' }
  | { kind: 'time_ahead' }
  | { kind: 'class_newer'; firstSeenAt: number }
  | CoverageLimit

/**
 * The clocks of Redis, Postgres and this service differ by less (a jump of 5 s is warned about), and no process grants by
 * policies this old. What a window forgot or lost within this of the time asked counts as forgotten or lost.
 */
const clockSlackMs = 10_000

/** Places of windows in which a record of the class may stand: the bounds are raised before any is granted. */
export function windowPlacesOf({ places }: ClassKept, now: number): WindowPlace[] {
  const found: WindowPlace[] = []
  if ((places?.postgresUntil ?? 0) > now - clockSlackMs) found.push('postgres')
  if ((places?.redisUntil ?? 0) > now - clockSlackMs) found.push('redis')
  return found
}

/**
 * What is known of each class about the time asked (`at`, null: since the ledger began at `beganAt`): an event is claimed
 * when it occurred or later. `unreachable` names classes of which a window could not be asked. A class nobody had claimed by then may have run without the
 * ledger, so its silence proves nothing.
 */
export function coverageOf(
  classes: readonly AskedClass[],
  known: { beganAt: number; checkedAt: number; kept: KeptFacts; unreachable: ReadonlySet<string> },
  at: number | null,
): Coverage[] {
  return classes.map(({ class: name, firstSeenAt }) => {
    const kept = known.kept.classes.get(name)
    const bound = firstSeenAt === null ? null : lastBound(name, firstSeenAt, kept, known)
    return {
      class: name,
      store: kept?.eras.at(-1)?.store ?? 'ledger',
      completeSince: Math.max(known.beganAt, Math.min(bound?.since ?? 0, known.kept.now)),
      limit: bound?.limit ?? null,
      gap: firstSeenAt === null ? { kind: 'never_claimed' } : gapAt(firstSeenAt, known, at, bound),
    }
  })
}

function gapAt(
  firstSeenAt: number,
  { beganAt, checkedAt }: { beganAt: number; checkedAt: number },
  at: number | null,
  bound: Bound | null,
): CoverageGap | null {
  if (at === null) return bound?.limit ?? null
  if (at < beganAt) return { kind: 'ledger_newer' }
  if (at > checkedAt) return { kind: 'time_ahead' }
  if (firstSeenAt > at) return { kind: 'class_newer', firstSeenAt }
  return bound !== null && at < bound.since ? bound.limit : null
}

/** What was claimed before `since` may not be known; it may lie ahead, where nothing is known in full. */
type Bound = { since: number; limit: CoverageLimit }

/** The latest bound. One that lies before the first claim bounds nothing. */
function lastBound(
  name: string,
  firstSeenAt: number,
  kept: ClassKept | undefined,
  known: { kept: KeptFacts; unreachable: ReadonlySet<string> },
): Bound | null {
  if (known.unreachable.has(name)) return { since: Number.POSITIVE_INFINITY, limit: { kind: 'window_unreachable' } }
  if (kept === undefined) return null
  const { now, losses } = known.kept
  const bounds = [...windowBounds(kept, now), ...lossBounds(name, kept, losses)]
  if (kept.keysCompleteSince !== null) {
    // A key that settled in that very millisecond may be among them.
    bounds.push({ since: kept.keysCompleteSince + 1, limit: { kind: 'keys_forgotten' } })
  }
  let last: Bound | null = null
  for (const bound of bounds) {
    if (bound.since > firstSeenAt && bound.since > (last?.since ?? Number.NEGATIVE_INFINITY)) last = bound
  }
  return last
}

/**
 * A window forgets a claim `windowMs` after its end, by the window in force at its grant. Claims by the window of an era
 * are granted until every process knows the next one; where the class left windows for good, keys that a window knows
 * are granted there on, and every grant raises the bound of the place first.
 */
function windowBounds({ eras, places }: ClassKept, now: number): Bound[] {
  const heldUntil = Math.max(places?.redisUntil ?? 0, places?.postgresUntil ?? 0)
  return eras.flatMap((era, at): Bound[] => {
    if (era.store !== 'window') return []
    const since = Math.min(now - era.windowMs + clockSlackMs, lastEnd(eras.slice(at + 1), heldUntil))
    return since > era.since ? [{ since, limit: { kind: 'window_over', windowMs: era.windowMs } }] : []
  })
}

function lastEnd(later: readonly ClassEra[], heldUntil: number): number {
  const [next] = later
  if (next === undefined) return Number.POSITIVE_INFINITY
  const nextWindow = later.find(({ store }) => store === 'window')
  if (nextWindow === undefined && heldUntil > 0) return heldUntil
  return (nextWindow ?? next).since + clockSlackMs
}

/** Losses are Redis': a class without records there when it was last whole lost none. */
function lossBounds(name: string, { places }: ClassKept, losses: readonly WindowLoss[]): Bound[] {
  return losses.flatMap(({ class: lostClass, cause, fromAt, toAt }): Bound[] => {
    const concerned = lostClass === null ? (places?.redisUntil ?? 0) > fromAt : lostClass === name
    if (!concerned || cause === 'outage') return []
    return [{ since: toAt + clockSlackMs, limit: { kind: 'window_lost', cause, fromAt, toAt } }]
  })
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
