import type { ClassKept, KeptFacts, LedgerRecord } from '@ranbook/rules'
import { StoreError } from '@ranbook/rules'
import type { LookupDeps } from '../../src/ledger/lookup.ts'
import { historyClasses, type SpoiltLookups } from './history.ts'

/** Faults that the observer has to notice, each with what it says then. */
export const faults: Record<string, { breaks: RegExp; spoil: SpoiltLookups }> = {
  'coverage that ignores what retention forgot': {
    breaks: /^never/,
    spoil: keptAs((kept) => ({ ...kept, keysCompleteSince: null })),
  },
  'coverage that ignores where a class was kept before': {
    breaks: /^never/,
    spoil: keptAs((kept) => ({ ...kept, eras: [{ ...(kept.eras.at(-1) ?? kept.eras[0]), since: 0 }] })),
  },
  'coverage that forgets what a class still has in windows it left': {
    breaks: /^never/,
    spoil: keptAs((kept) => ({ ...kept, places: null })),
  },
  'coverage that ignores what Redis lost': {
    breaks: /^never/,
    spoil: factsAs((facts) => ({ ...facts, losses: [] })),
  },
  'coverage that is read before the records': { breaks: /^never/, spoil: readFirst },
  'a window that can not be asked taken for an empty one': { breaks: /^never/, spoil: emptyWhereUnreachable },
  'windows that are not asked at all': { breaks: /^never/, spoil: neverAsked },
  'Redis taken for whole without a look': {
    breaks: /^never/,
    spoil: (deps) => ({ ...deps, windows: { ...deps.windows, confirmed: async () => true } }),
  },
  'leases judged by a clock that is an hour behind': { breaks: /^running/, spoil: judgedLate(-3_600_000) },
  'leases judged by a clock that is an hour ahead': { breaks: /^interrupted/, spoil: judgedLate(3_600_000) },
  'a failure read as a completion': {
    breaks: /^ran/,
    spoil: recordsAs((record) => (record.state === 'failed' ? { ...record, state: 'completed' } : record)),
  },
}

function factsAs(change: (facts: KeptFacts) => KeptFacts): SpoiltLookups {
  return (deps) => ({
    ...deps,
    classes: { ...deps.classes, readKept: async (names) => change(await deps.classes.readKept(names)) },
  })
}

function keptAs(change: (kept: ClassKept) => ClassKept): SpoiltLookups {
  return factsAs((facts) => ({
    ...facts,
    classes: new Map([...facts.classes].map(([name, kept]) => [name, change(kept)])),
  }))
}

/** Read once, before the first record is looked for. */
function readFirst(deps: LookupDeps): LookupDeps {
  let first: Promise<KeptFacts> | null = null
  const readOnce = (): Promise<KeptFacts> => {
    first ??= deps.classes.readKept(historyClasses)
    return first
  }
  return {
    ...deps,
    store: {
      ...deps.store,
      search: async (filter) => {
        await readOnce()
        return deps.store.search(filter)
      },
    },
    classes: { ...deps.classes, readKept: readOnce },
  }
}

function emptyWhereUnreachable(deps: LookupDeps): LookupDeps {
  return {
    ...deps,
    windows: {
      ...deps.windows,
      confirmed: async (place) => {
        await deps.windows.confirmed(place)
        return true
      },
      storeAt: (place) => {
        const cells = deps.windows.storeAt(place)
        const read: typeof cells.read = async (requests) => {
          try {
            return await cells.read(requests)
          } catch (error) {
            if (error instanceof StoreError) return requests.map(() => null)
            throw error
          }
        }
        return { ...cells, read }
      },
    },
  }
}

function neverAsked(deps: LookupDeps): LookupDeps {
  return {
    ...deps,
    windows: {
      ...deps.windows,
      storeAt: (place) => ({
        ...deps.windows.storeAt(place),
        read: async (requests) => requests.map(() => null),
      }),
    },
  }
}

function judgedLate(byMs: number): SpoiltLookups {
  return (deps) => ({
    ...deps,
    store: {
      ...deps.store,
      search: async (filter) => {
        const { rows, now } = await deps.store.search(filter)
        return { rows, now: now + byMs }
      },
    },
  })
}

function recordsAs(change: (record: Omit<LedgerRecord, 'result'>) => Omit<LedgerRecord, 'result'>): SpoiltLookups {
  return (deps) => ({
    ...deps,
    store: {
      ...deps.store,
      search: async (filter) => {
        const { rows, now } = await deps.store.search(filter)
        return { rows: rows.map((row) => ({ ...row, record: change(row.record) })), now }
      },
    },
  })
}
