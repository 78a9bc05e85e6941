import type { StoreWarning } from '../ledger/store-warning.ts'
import type { SeenMaster } from './judge-redis.ts'

/** May this master forget keys before their time? Then window classes can't be granted there. */
export function mayEvict({ maxmemory, policy }: Pick<SeenMaster, 'maxmemory' | 'policy'>): boolean {
  return maxmemory > 0 && policy !== 'noeviction'
}

/** What is wrong with how masters are set up. */
export function redisWarnings(seen: readonly SeenMaster[]): Omit<StoreWarning, 'since'>[] {
  return seen
    .filter(({ policy }) => policy !== 'noeviction')
    .map((master) => ({
      target: `redis ${master.id}`,
      sentence: mayEvict(master)
        ? `Redis may forget keys: maxmemory-policy is ${master.policy}. Window classes are answered by their window_outage until it is noeviction.`
        : `Redis would forget keys if maxmemory were set: maxmemory-policy is ${master.policy}. Set it to noeviction.`,
    }))
}

/** While Redis does not answer. */
export const redisSilent: Omit<StoreWarning, 'since'> = {
  target: 'redis',
  sentence: 'Redis does not answer. Window classes are answered by their window_outage until it does.',
}
