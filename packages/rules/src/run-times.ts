/** Counts by run time: none at 0 ms, then one for each power of two of milliseconds, the last from 18.6 hours on. */
export const runTimeBuckets = 28

const longestMs = 2 ** (runTimeBuckets - 1) - 1

/**
 * The bucket of a run time in ms: 0 for less than one, else `n` for 2^(n−1) up to, not including, 2^n. Doublings keep
 * an estimate within its own half whether effects take milliseconds or hours, and the bucket is found without a search.
 */
export function runTimeBucket(ms: number): number {
  return 32 - Math.clz32(Math.min(Math.max(ms, 0), longestMs))
}

/**
 * The run time in whole ms that `share` (0 to 1) of the attempts counted did not exceed, as if those of a bucket were
 * spread evenly over it. Null where none was counted.
 */
export function runTimeQuantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let below = 0
  let last = 0
  for (const [bucket, count] of counts.entries()) {
    if (count === 0) continue
    const from = bucket === 0 ? 0 : 2 ** (bucket - 1)
    const to = bucket === 0 ? 0 : 2 ** bucket
    last = to
    if (below + count >= share * total) return Math.round(from + (to - from) * ((share * total - below) / count))
    below += count
  }
  return last
}
