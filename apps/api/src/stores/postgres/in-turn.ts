/**
 * Runs works one after the other, in the order they came; one that fails does not stop the next. Changes that wait for
 * one lock of the database anyway then hold one connection instead of all.
 */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
