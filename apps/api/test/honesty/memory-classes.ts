import {
  type ClassEra,
  type ClassKept,
  type ClassPlaces,
  type ClassStore,
  coversRecord,
  defaultPolicy,
  matchPolicyName,
  type SeenPair,
  type StoredPolicy,
  storeChanges,
  type WindowLoss,
} from '@ranbook/rules'

/** What histories ask of where policies stand, and what retention tells of a class. */
export type MemoryClasses = Pick<
  ClassStore,
  | 'revision'
  | 'readPolicies'
  | 'changePolicy'
  | 'addPairs'
  | 'raisePlaces'
  | 'prolongOutage'
  | 'findPairs'
  | 'readKept'
  | 'ledgerBeganAt'
> & {
  declareLoss(loss: WindowLoss): Promise<void>
  keysForgotten(className: string, before: number): void
  policyFor(className: string): StoredPolicy['policy']
}

/** The plainest reading of `ClassStore`, by the clock given. */
export function createMemoryClasses({ now }: { now: () => number }): MemoryClasses {
  const beganAt = now()
  const policies = new Map<string, StoredPolicy>()
  const pairs: SeenPair[] = []
  const eras = new Map<string, ClassEra[]>()
  const places = new Map<string, ClassPlaces>()
  const losses: WindowLoss[] = []
  const completeSince = new Map<string, number>()
  let policyRevision = 0
  let windowRevision = 0

  const firstSeen = (name: string): number =>
    Math.min(...pairs.filter((pair) => pair.class === name).map((pair) => pair.firstSeenAt))
  const placesOf = (name: string): ClassPlaces =>
    places.get(name) ?? { redisUntil: null, postgresUntil: null, ledgerHeld: false }
  const policyFor = (className: string): StoredPolicy['policy'] => {
    const name = matchPolicyName(className, (one) => policies.has(one))
    return name === null ? defaultPolicy : (policies.get(name)?.policy ?? defaultPolicy)
  }
  const keptOf = (name: string): ClassKept => {
    const [first, ...later] = eras.get(name) ?? []
    const { store, window_ms } = policyFor(name) ?? defaultPolicy
    const sole: ClassEra = { since: 0, store, windowMs: window_ms }
    return {
      eras: [first ?? sole, ...later],
      places: places.get(name) ?? null,
      keysCompleteSince: completeSince.get(name) ?? null,
    }
  }
  const writeEras = (before: readonly StoredPolicy[]): void => {
    const seen = [...new Set(pairs.map((pair) => pair.class))]
    for (const change of storeChanges(seen, before, [...policies.values()])) {
      const known = eras.get(change.class) ?? [{ since: firstSeen(change.class), ...change.before }]
      eras.set(change.class, [...known.filter(({ since }) => since !== now()), { since: now(), ...change.after }])
      if (change.before.store === 'ledger' && change.after.store === 'window') {
        places.set(change.class, { ...placesOf(change.class), ledgerHeld: true })
      }
    }
  }

  return {
    policyFor,
    keysForgotten: (name, before) => void completeSince.set(name, Math.max(completeSince.get(name) ?? 0, before)),
    revision: async () => ({ revision: policyRevision + windowRevision, now: now() }),
    readPolicies: async () => ({
      revision: policyRevision + windowRevision,
      policyRevision,
      policies: [...policies.values()],
      places: { eras: new Map(eras), places: new Map(places), losses: losses.map((loss) => ({ ...loss })).reverse() },
      now: now(),
    }),
    async changePolicy(name, decide) {
      policyRevision += 1
      const standing = policies.get(name) ?? null
      const edit = decide(standing)
      if (edit?.policy == null) throw new Error('histories only put policies')
      const before = [...policies.values()]
      const version = (standing?.version ?? 0) + 1
      const stored = { name, version, policy: edit.policy, updatedAt: now(), updatedBy: edit.audit.actor }
      policies.set(name, stored)
      writeEras(before)
      return stored
    },
    async addPairs(added, revision) {
      if (revision !== policyRevision) return false
      for (const pair of added) {
        if (pairs.some((one) => one.class === pair.class && one.consumer === pair.consumer)) continue
        pairs.push({ class: pair.class, consumer: pair.consumer, firstSeenAt: now() })
      }
      return true
    },
    async raisePlaces(bounds) {
      windowRevision += 1
      for (const { class: name, place, until } of bounds) {
        const known = placesOf(name)
        const field = `${place}Until` as const
        places.set(name, { ...known, [field]: Math.max(known[field] ?? 0, until) })
      }
    },
    async declareLoss(loss) {
      windowRevision += 1
      losses.push(loss)
    },
    async prolongOutage(name, forMs) {
      windowRevision += 1
      const until = now() + forMs
      const lasting = losses.find((loss) => loss.class === name && loss.cause === 'outage' && loss.toAt > now())
      if (lasting) Object.assign(lasting, { toAt: until, untilAt: until })
      else losses.push({ class: name, cause: 'outage', fromAt: now(), toAt: until, untilAt: until, detail: null })
    },
    findPairs: async (scope, only, limit) =>
      pairs
        .filter((pair) => coversRecord(scope, pair))
        .filter((pair) => only.class === null || only.class === pair.class)
        .filter((pair) => only.consumer === null || only.consumer === pair.consumer)
        .slice(0, limit),
    readKept: async (names) => ({
      now: now(),
      classes: new Map(names.map((name) => [name, keptOf(name)])),
      losses: losses.filter(({ cause }) => cause !== 'outage'),
    }),
    ledgerBeganAt: async () => beganAt,
  }
}
