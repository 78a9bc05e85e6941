/** What a process keeps of something that any process may change: synchronous to read, re-read where it changed. */
export type FreshCopy<T> = {
  current(): T
  /** How long ago, in ms, the copy was known to be what stands. */
  ageMs(): number
  /** After it, `current()` holds everything that was durable when it was called. Throws what reading throws. */
  refresh(): Promise<void>
}

export type FreshCopyDeps<T> = {
  /** Cheap; changes with everything that changes `read`'s answer. */
  revision: () => Promise<number>
  /** Value and revision of one snapshot. */
  read: () => Promise<{ revision: number; value: T }>
  /** A clock that nobody can set, in ms from anywhere. */
  monotonicMs: () => number
}

/** Reads the first copy; throws what reading throws. */
export async function createFreshCopy<T>(deps: FreshCopyDeps<T>): Promise<FreshCopy<T>> {
  let started = 0
  let known = await deps.read()
  let knownSince = 0
  let askedAtMs = deps.monotonicMs()

  const refresh = async (): Promise<void> => {
    started += 1
    const turn = started
    const beganAtMs = deps.monotonicMs()
    const revision = await deps.revision()
    const next = revision === known.revision ? known : await deps.read()
    // Of two refreshes side by side the one that began later saw the later state, whichever ends first.
    if (turn < knownSince) return
    knownSince = turn
    known = next
    askedAtMs = Math.max(askedAtMs, beganAtMs)
  }

  return { current: () => known.value, ageMs: () => deps.monotonicMs() - askedAtMs, refresh }
}
