import type { ClassStore } from '@ranbook/rules'
import { type PairRegistry, PoliciesStale } from './ledger-deps.ts'

/** Some 10 MB of names at most; a lookup by key alone gives up far earlier. Beyond it pairs are stored again, harmlessly. */
const maxPairs = 50_000

/** Each round reads the policies anew: more changes than this in a few milliseconds are no coincidence. */
const maxRounds = 5

/**
 * Pairs known to be stored, in memory, over those in the store. A pair is only added under policies that stand: else a
 * class could be seen first in a store that it had just left.
 */
export function createPairRegistry(
  store: Pick<ClassStore, 'addPairs'>,
  policies: { policyRevision(): number; refresh(): Promise<void> },
): PairRegistry {
  const stored = new Map<string, Set<string>>()
  const adding = new Map<string, Promise<void>>()
  let count = 0

  const has = (consumer: string, className: string): boolean => stored.get(consumer)?.has(className) ?? false

  const remember = (pair: { consumer: string; class: string }): void => {
    if (has(pair.consumer, pair.class)) return
    if (count >= maxPairs) {
      stored.clear()
      count = 0
    }
    const classes = stored.get(pair.consumer)
    if (classes === undefined) stored.set(pair.consumer, new Set([pair.class]))
    else classes.add(pair.class)
    count += 1
  }

  const storeAll = async (pairs: { consumer: string; class: string }[]): Promise<void> => {
    for (let round = 0; !(await store.addPairs(pairs, policies.policyRevision())); round++) {
      if (round === maxRounds) throw new PoliciesStale('the policies changed faster than they could be read')
      await policies.refresh()
    }
    for (const pair of pairs) remember(pair)
  }

  return {
    has,
    async add(pairs) {
      // Names hold no control characters, so no two pairs share this text.
      const unknown = new Map(pairs.map((pair) => [`${pair.consumer}\n${pair.class}`, pair]))
      const fresh = [...unknown].filter(([text, pair]) => !adding.has(text) && !has(pair.consumer, pair.class))
      if (fresh.length > 0) {
        const done = storeAll(fresh.map(([, pair]) => ({ consumer: pair.consumer, class: pair.class }))).finally(() => {
          for (const [text] of fresh) adding.delete(text)
        })
        for (const [text] of fresh) adding.set(text, done)
      }
      await Promise.all([...unknown.keys()].flatMap((text) => adding.get(text) ?? []))
    },
  }
}
