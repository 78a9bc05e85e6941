import type { Policy } from '@ranbook/contract'
import { defaultPolicy, matchPolicyName } from './policy.ts'
import type { Place, WindowPlace } from './record.ts'

/** Which store a class was kept in from `since` on, in ms by the ledger's clock. */
export type ClassEra = { since: number; store: Policy['store']; windowMs: number }

/** Where records of a class may stand besides where they are granted: upper bounds in ms, null for never. */
export type ClassPlaces = { redisUntil: number | null; postgresUntil: number | null; ledgerHeld: boolean }

/**
 * Why windows can't answer for a span: `outage` (Redis could not be asked, nothing is lost), else records granted before
 * `toAt` may be gone: it came back `empty`, was `flushed`, `evicted` keys, `failed_over`, or was `replaced`.
 */
export const windowLossCauses = ['outage', 'empty', 'flushed', 'evicted', 'failed_over', 'replaced'] as const
export type WindowLossCause = (typeof windowLossCauses)[number]

/**
 * A `window_lost` span. `class` null: every window class. `fromAt`: when all was last known to be there; `toAt`: when it
 * was noticed, of an outage its end; `untilAt`: until then a key may be granted a second time. Times in ms.
 */
export type WindowLoss = {
  class: string | null
  cause: WindowLossCause
  fromAt: number
  toAt: number
  untilAt: number
  detail: string | null
}

/** What is known of where classes are kept, by one reading. A class without an entry never moved. */
export type PlacesKnown = {
  eras: ReadonlyMap<string, readonly ClassEra[]>
  places: ReadonlyMap<string, ClassPlaces>
  /** Newest first. */
  losses: readonly WindowLoss[]
}

/**
 * How long the keys that an older store does not know are refused while a class moves. No process grants by policies
 * older than 2 s, so after this no two grant in different stores.
 */
export const movingMs = 10_000

/** Where claims of a class go: `older` places are asked first, in order; a key that none knows is granted in `grant`. */
export type Placement = {
  older: readonly Place[]
  grant: Place
  /** Until then such a key is refused, in ms by the ledger's clock; null: at once. */
  movingUntil: number | null
}

/**
 * Where claims of a class go that is kept in `store`. `windowPlace` is where windows are kept now, `eras` those of the
 * class, oldest first; `now` by the ledger's clock.
 */
export function placementOf(
  store: Policy['store'],
  windowPlace: WindowPlace,
  known: { eras: readonly ClassEra[]; places: ClassPlaces | null },
  now: number,
): Placement {
  const grant: Place = store === 'ledger' ? 'ledger' : windowPlace
  const { redisUntil = null, postgresUntil = null, ledgerHeld = false } = known.places ?? {}
  const older: Place[] = []
  if (grant !== 'ledger' && ledgerHeld) older.push('ledger')
  if (grant !== 'postgres' && postgresUntil !== null && postgresUntil > now) older.push('postgres')
  if (grant !== 'redis' && redisUntil !== null && redisUntil > now) older.push('redis')
  return { older, grant, movingUntil: movingUntil(known.eras, store, now) }
}

function movingUntil(eras: readonly ClassEra[], store: Policy['store'], now: number): number | null {
  const last = eras.at(-1)
  const before = eras.at(-2)
  if (last === undefined || before === undefined || last.store === before.store || last.store !== store) return null
  const until = last.since + movingMs
  return until > now ? until : null
}

/** A class whose store or window another set of policies changes. */
export type StoreChange = {
  class: string
  before: Pick<ClassEra, 'store' | 'windowMs'>
  after: Pick<ClassEra, 'store' | 'windowMs'>
}

type Named = { name: string; policy: Policy | null }

/**
 * The classes whose store or window differs between two sets of policies. A policy that this version can't read changes
 * nothing: no process of this version grants by it.
 */
export function storeChanges(
  classes: readonly string[],
  before: readonly Named[],
  after: readonly Named[],
): StoreChange[] {
  const governs = (policies: readonly Named[]): ((className: string) => Policy | null) => {
    const byName = new Map(policies.map(({ name, policy }) => [name, policy]))
    return (className) => {
      const name = matchPolicyName(className, (one) => byName.has(one))
      return name === null ? defaultPolicy : (byName.get(name) ?? null)
    }
  }
  const old = governs(before)
  const young = governs(after)
  return classes.flatMap((name) => {
    const from = old(name)
    const to = young(name)
    if (from === null || to === null) return []
    const windowMoved = to.store === 'window' && from.window_ms !== to.window_ms
    if (from.store === to.store && !windowMoved) return []
    const keptAs = ({ store, window_ms }: Policy) => ({ store, windowMs: window_ms })
    return [{ class: name, before: keptAs(from), after: keptAs(to) }]
  })
}
