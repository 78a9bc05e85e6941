/** Pairs the fencing numbers of two stores, which need not be equal, only in the same order on each record. */
export type FencingPairs = {
  /**
   * `answer` with each fencing number replaced by the one that `expected` has in its place, once it is certain that the
   * two belong together: both new and above all before on that record, or both known as a pair.
   */
  alike(answer: unknown, expected: unknown): unknown
}

export function pairFencing(): FencingPairs {
  const partners = new Map<number, number>()
  const highest = new Map<string, readonly [number, number]>()

  function pair(digest: string, number: number, expected: number): number {
    const partner = partners.get(number)
    if (partner !== undefined) return partner
    const [last, lastExpected] = highest.get(digest) ?? [0, 0]
    if (number <= last || expected <= lastExpected) return number
    highest.set(digest, [number, expected])
    partners.set(number, expected)
    return expected
  }

  function alike(answer: unknown, expected: unknown): unknown {
    if (Array.isArray(answer) && Array.isArray(expected)) return answer.map((item, at) => alike(item, expected[at]))
    if (!isObject(answer) || !isObject(expected)) return answer
    const entries = Object.entries(answer).map(([name, value]) => {
      const other = expected[name]
      const numbers = name === 'fencingToken' && typeof value === 'number' && typeof other === 'number'
      return [name, numbers ? pair(String(answer['digest']), value, other) : alike(value, other)]
    })
    return Object.fromEntries(entries)
  }

  return { alike }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
