import { type ClassStore, type StoreChange, type StoredPolicy, storeChanges } from '@ranbook/rules'
import type { Session, Sessions } from './lane.ts'
import { eraStoreCodes } from './place-rows.ts'
import * as statement from './place-statements.ts'
import { type PolicyRow, storedPolicy } from './stored-policy.ts'

type Transaction = Pick<Session, 'unsafe'>

/**
 * How far above the clock fencing numbers are raised where a class comes to the ledger: windows, which make theirs from
 * Redis' clock, may go on for the 10 s of the move, and the clocks differ a little. Not more: a class that goes back to
 * windows is granted there 20 s later at the earliest, with the clock's number, which has to be above.
 */
const fencingAheadMs = 15_000

/** What claims write of places. On the connections that a claim waits for: it is answered afterwards. */
export function placeWrites(claims: Sessions): Pick<ClassStore, 'raisePlaces' | 'prolongOutage'> {
  return {
    raisePlaces: (bounds, raiseFencing) =>
      claims.use((session) =>
        session.begin(async (transaction) => {
          const rows = bounds.map(({ class: name, place, until }) => ({ class: name, [`${place}_until`]: until }))
          await transaction.unsafe(statement.RAISE_PLACES, [JSON.stringify(rows)])
          if (raiseFencing) await transaction.unsafe(statement.RAISE_FENCING, [fencingAheadMs])
          await transaction.unsafe(statement.BUMP_WINDOW_REVISION)
        }),
      ),

    prolongOutage: (name, forMs) =>
      claims.use((session) =>
        session.begin(async (transaction) => {
          // First, as it is the lock under which two processes can't both begin one.
          await transaction.unsafe(statement.BUMP_WINDOW_REVISION)
          const moved = await transaction.unsafe(statement.PROLONG_OUTAGE, [name, forMs])
          if (moved.length === 0) await transaction.unsafe(statement.BEGIN_OUTAGE, [name, forMs])
        }),
      ),
  }
}

/** All policies that stand, within the transaction that changes one. */
export async function readAllPolicies(transaction: Transaction): Promise<StoredPolicy[]> {
  const rows = await transaction.unsafe<PolicyRow[]>(statement.READ_ALL_POLICIES)
  return rows.map(storedPolicy)
}

/**
 * Writes what a change of policies means for classes that were seen: the eras that begin with it. One that leaves the
 * ledger stays readable there; for one that comes to it fencing numbers are raised above those that windows make.
 */
export async function writeEras(
  transaction: Transaction,
  before: readonly StoredPolicy[],
  after: readonly StoredPolicy[],
): Promise<void> {
  const seen = new Map(
    (await transaction.unsafe<{ class: string; first_seen_at: number }[]>(statement.READ_SEEN_CLASSES)).map(
      (row) => [row.class, row.first_seen_at] as const,
    ),
  )
  const changes = storeChanges([...seen.keys()], before, after)
  if (changes.length === 0) return
  await transaction.unsafe(statement.WRITE_ERAS, [JSON.stringify(changes.map((change) => eraRow(change, seen)))])
  const leaving = changes.filter((change) => change.before.store === 'ledger' && change.after.store === 'window')
  if (leaving.length > 0) {
    await transaction.unsafe(statement.HOLD_IN_LEDGER, [JSON.stringify(leaving.map((change) => change.class))])
  }
  const coming = changes.some((change) => change.before.store === 'window' && change.after.store === 'ledger')
  if (coming) await transaction.unsafe(statement.RAISE_FENCING, [fencingAheadMs])
}

function eraRow({ class: name, before, after }: StoreChange, seen: ReadonlyMap<string, number>) {
  return {
    class: name,
    first_seen_at: seen.get(name),
    old_store: eraStoreCodes[before.store],
    old_window_ms: before.windowMs,
    store: eraStoreCodes[after.store],
    window_ms: after.windowMs,
  }
}
