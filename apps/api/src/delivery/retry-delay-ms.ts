const firstMs = 1000
const longestMs = 300_000

/** How long after the first try of a delivery the last may be. */
const triedForMs = 86_400_000

/**
 * How long to wait after try number `tries` (1 is the first) has failed: 1 s, 2 s, 4 s … up to 5 min, and up to a fifth
 * more, so that many targets of one host that was away are not tried in step. Null: 24 h after the first try no further
 * one follows. `elapsedMs` is counted from the first try; `jitter` lies in [0, 1).
 */
export function retryDelayMs(tries: number, elapsedMs: number, jitter: number): number | null {
  const delayMs = Math.round(Math.min(firstMs * 2 ** (tries - 1), longestMs) * (1 + jitter / 5))
  return elapsedMs + delayMs > triedForMs ? null : delayMs
}
