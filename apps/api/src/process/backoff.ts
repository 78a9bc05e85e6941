/**
 * How long to wait before try number `failures + 1` of something that should run all the time: 100 ms, doubled each
 * time, 5 s at most. Soon enough that nobody waits for it, seldom enough that a lasting fault costs nothing.
 */
export function backoffMs(failures: number): number {
  return Math.min(100 * 2 ** failures, 5000)
}
