/** An item of a call, and where its answer belongs. */
export type Placed<T> = { item: T; at: number }

/**
 * The items of one call in rounds to be written one after the other: in a round no digest stands twice (`UPDATE … FROM`
 * would apply one at random) and digests ascend (statements that lock the same rows in the same order never deadlock).
 *
 * Left out are items whose digest and guard stood before: whether the first of them was written or not, they can't be.
 * So a thousand racers for one record are one row of one statement.
 */
export function distinctRounds<T extends { digest: string }, Guard>(
  items: readonly T[],
  guardOf: (item: T) => Guard,
): Placed<T>[][] {
  const guardsByDigest = new Map<string, Guard[]>()
  const rounds: Placed<T>[][] = []
  for (const [at, item] of items.entries()) {
    const guard = guardOf(item)
    const guards = guardsByDigest.get(item.digest)
    if (guards?.includes(guard)) continue
    const round = guards?.length ?? 0
    if (guards) guards.push(guard)
    else guardsByDigest.set(item.digest, [guard])
    const placed = rounds[round]
    if (placed) placed.push({ item, at })
    else rounds.push([{ item, at }])
  }
  for (const round of rounds) round.sort((a, b) => (a.item.digest < b.item.digest ? -1 : 1))
  return rounds
}
