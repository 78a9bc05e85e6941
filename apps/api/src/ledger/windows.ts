import {
  type ClaimStore,
  type LedgerRecord,
  type Place,
  type RecordStore,
  StoreError,
  type WindowFacts,
  type WindowPlace,
} from '@ranbook/rules'

/** The class changes its store: a key that the older one does not know is granted in some seconds. */
export class ClassMoving extends Error {
  override readonly name = 'ClassMoving'
  readonly code = 'class_moving'
}

/** Where a claim goes: `older` places are asked first, in order; a key that none of them knows gets `grant`. */
export type Route = {
  readonly older: readonly Place[]
  /** Null: in the ledger. An error: refused, to be repeated with the same token. */
  readonly grant: WindowFacts | StoreError | ClassMoving | null
}

/** A window's record that is about to be granted or changed: the place has to be known to hold its class until then. */
export type Bound = { class: string; place: WindowPlace; until: number }

/** Windows, beside the ledger: who goes where, and the stores. */
export type Windows = {
  /** By the policies and places as last read. */
  routeOf(className: string): Route
  /** Throws StoreError `window_unavailable` where that place can't be asked from here. */
  storeAt(place: WindowPlace): ClaimStore
  /** Places in which a window's record may stand, in the order they are asked. */
  placesAsked(): readonly WindowPlace[]
  /**
   * True once everything that the place may have lost before this call is declared; false where that can't be told
   * within 2 s.
   */
  confirmed(place: WindowPlace): Promise<boolean>
  /** The ledger's clock in ms, some ms behind it at most. */
  storeNow(): number
  /**
   * Resolves once every process knows, or will before it grants elsewhere, that the places may hold the classes until
   * then. Null where that is known already: nothing has to be awaited.
   */
  cover(bounds: readonly Bound[]): Promise<void> | null
}

/** The way of a class that never was anywhere else than in the ledger. */
export const ledgerRoute: Route = { older: [], grant: null }

/** Everything is in the ledger: for services without windows, such as most tests. */
export const noWindows: Windows = {
  routeOf: () => ledgerRoute,
  storeAt: () => {
    throw new StoreError('window_unavailable', 'there are no windows')
  },
  placesAsked: () => [],
  confirmed: async () => true,
  storeNow: () => 0,
  cover: () => null,
}

/** The store that holds a record. */
export function storeOf(
  { store, windows }: { store: RecordStore; windows: Windows },
  record: Pick<LedgerRecord, 'window'>,
): ClaimStore {
  return record.window === null ? store : windows.storeAt(record.window.place)
}
