import {
  type ClaimStore,
  type ClassStore,
  type PlacesKnown,
  placementOf,
  StoreError,
  type WindowFacts,
  type WindowPlace,
} from '@ranbook/rules'
import type { ClassBook } from './class-book.ts'
import { type Bound, ClassMoving, ledgerRoute, type Route, type Windows } from './windows.ts'

/**
 * Every process knows what was written this long ago, or answers no claims: policies and places older than 2 s are not
 * used. So Redis and Postgres never both grant keys of a class unknown to each other.
 */
const knownEverywhereMs = 2000
/** The end of an outage is moved on by this much, so that it ends soon after the last process that needs it. */
const outageMs = 10_000
/** Bounds are raised by an eighth of the window more than needed, at least this: a class costs a few writes per window. */
const coverSlackMinMs = 60_000

export type WindowsDeps = {
  classes: Pick<ClassBook, 'policyFor' | 'placesKnown' | 'storeNow'>
  store: Pick<ClassStore, 'raisePlaces' | 'prolongOutage'>
  postgres: ClaimStore
  /** Null where none is set. `usable`: it can be asked, and keeps what it was told. `confirmed`: see `Windows`. */
  redis: { claims: ClaimStore; usable: () => boolean; confirmed: () => Promise<boolean> } | null
  failed: (error: unknown) => void
}

/**
 * Windows of this process. `keepOutages` has to be called about each second: it moves on the spans of classes that are
 * granted in Postgres because Redis can't be asked.
 */
export function createWindows(deps: WindowsDeps): Windows & { keepOutages(): Promise<void> } {
  const { classes, store, postgres, redis } = deps
  const windowPlace: WindowPlace = redis === null ? 'postgres' : 'redis'
  /** Bounds that this process raised, by place and class. */
  const covered = new Map<string, number>()
  const raising = new Map<string, Promise<void>>()
  /** Classes that fall back now, and those whose span is being begun. */
  const fallingBack = new Set<string>()
  const beginning = new Map<string, Promise<void>>()

  const coveredUntil = ({ class: name, place }: Pick<Bound, 'class' | 'place'>): number => {
    const known = classes.placesKnown().places.get(name)
    const told = place === 'redis' ? known?.redisUntil : known?.postgresUntil
    return Math.max(told ?? 0, covered.get(boundName(name, place)) ?? 0)
  }

  const begin = (name: string): void => {
    if (beginning.has(name)) return
    const { window_ms, lease_ms } = classes.policyFor(name)
    const until = classes.storeNow() + lease_ms + window_ms + coverSlackMinMs
    // Whoever sees the span has to see that Postgres is asked: the bound comes first.
    const begun = store
      .raisePlaces([{ class: name, place: 'postgres', until }], false)
      .then(() => store.prolongOutage(name, outageMs))
      .then(() => {
        fallingBack.add(name)
      })
      .catch(deps.failed)
      .finally(() => beginning.delete(name))
    beginning.set(name, begun)
  }

  /** The grant of a window class while Redis can't be asked. */
  const withoutRedis = (name: string, now: number): WindowFacts | StoreError => {
    const { window_outage, window_ms } = classes.policyFor(name)
    if (window_outage === 'refuse') return unavailable()
    const span = outageOf(classes.placesKnown(), name, now)
    if (span !== undefined) {
      fallingBack.add(name)
      if (now >= span.fromAt + knownEverywhereMs) return { place: 'postgres', ms: window_ms, degraded: true }
    } else {
      begin(name)
    }
    return unavailable()
  }

  return {
    routeOf(name): Route {
      const policy = classes.policyFor(name)
      const { eras, places } = classes.placesKnown()
      const known = { eras: eras.get(name) ?? [], places: places.get(name) ?? null }
      if (policy.store === 'ledger' && known.eras.length === 0 && known.places === null) return ledgerRoute
      const now = classes.storeNow()
      const { older, grant, movingUntil } = placementOf(policy.store, windowPlace, known, now)
      if (movingUntil !== null) return { older, grant: new ClassMoving(`${name} changes its store`) }
      if (grant === 'ledger') return { older, grant: null }
      if (grant === 'postgres' || redis?.usable()) {
        return { older, grant: { place: grant, ms: policy.window_ms, degraded: false } }
      }
      return { older, grant: withoutRedis(name, now) }
    },

    storeAt(place) {
      if (place === 'postgres') return postgres
      if (redis === null) throw unavailable()
      return redis.claims
    },

    placesAsked() {
      if (redis === null) return ['postgres']
      const now = classes.storeNow()
      return postgresInUse(classes.placesKnown(), now) || fallingBack.size > 0 ? ['postgres', 'redis'] : ['redis']
    },

    confirmed: async (place) => place === 'postgres' || (redis !== null && (await redis.confirmed())),

    storeNow: classes.storeNow,

    cover(bounds) {
      const needed = highest(bounds)
      const short = needed.filter((bound) => bound.until > coveredUntil(bound))
      // A key of a window that goes on though its class came to the ledger: the ledger's numbers shall stay above.
      const leaving = needed.some(({ class: name }) => classes.policyFor(name).store === 'ledger')
      if (short.length === 0 && !leaving) return null
      const raise = async (): Promise<void> => {
        const raised = (short.length === 0 ? needed : short).map((bound) => ({
          ...bound,
          until: Math.ceil(bound.until + Math.max(coverSlackMinMs, (bound.until - classes.storeNow()) / 8)),
        }))
        await store.raisePlaces(raised, leaving)
        for (const { class: name, place, until } of raised) covered.set(boundName(name, place), until)
      }
      if (leaving) return raise()
      const name = [...new Set(short.map((bound) => boundName(bound.class, bound.place)))].sort().join('\n')
      const underway = raising.get(name)
      // What is under way may be for less: it is looked at again afterwards.
      if (underway !== undefined) return underway.then(() => this.cover(bounds) ?? undefined)
      const done = raise().finally(() => raising.delete(name))
      raising.set(name, done)
      return done
    },

    async keepOutages() {
      if (redis?.usable() !== false) {
        fallingBack.clear()
        return
      }
      for (const name of fallingBack) await store.prolongOutage(name, outageMs)
    },
  }
}

/** One bound of each class and place. */
function highest(bounds: readonly Bound[]): Bound[] {
  const byName = new Map<string, Bound>()
  for (const bound of bounds) {
    const name = boundName(bound.class, bound.place)
    const other = byName.get(name)
    if (other === undefined || other.until < bound.until) byName.set(name, bound)
  }
  return [...byName.values()]
}

function boundName(className: string, place: WindowPlace): string {
  return `${place} ${className}`
}

function outageOf({ losses }: PlacesKnown, name: string, now: number) {
  return losses.find((loss) => loss.cause === 'outage' && loss.class === name && loss.toAt > now)
}

const postgresUntilMax = new WeakMap<PlacesKnown, number>()

/** May any class have records in Postgres' windows? */
function postgresInUse(known: PlacesKnown, now: number): boolean {
  let until = postgresUntilMax.get(known)
  if (until === undefined) {
    until = 0
    for (const { postgresUntil } of known.places.values()) until = Math.max(until, postgresUntil ?? 0)
    postgresUntilMax.set(known, until)
  }
  return until > now
}

function unavailable(): StoreError {
  return new StoreError('window_unavailable', 'Redis can not be asked')
}
