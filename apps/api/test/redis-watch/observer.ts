import { randomUUID } from 'node:crypto'
import { vi } from 'vitest'
import { lookAtRedis } from '../../src/jobs/look-at-redis.ts'
import { createRedisAccount, type RedisAccount } from '../../src/jobs/redis-account.ts'
import type { RedisStateStore } from '../../src/stores/postgres/redis-state-store.ts'
import type { OpenRedis } from '../../src/stores/redis/open-redis.ts'

export type Observer = { account: RedisAccount /** Looks until all is as it is known. */; check(): Promise<void> }

/** One process that looks at Redis when it is told to. */
export function observer(redis: OpenRedis, state: RedisStateStore): Observer {
  const account = createRedisAccount({ redis, state, storeNow: Date.now, newEpoch: randomUUID, lost: () => {} })
  const check = async (): Promise<void> => {
    await vi.waitUntil(
      async () => {
        const askedAt = Date.now()
        const seen = await lookAtRedis(redis, await account.load()).catch(() => null)
        if (seen === null) return false
        if (!account.isWhole(seen, askedAt)) {
          await account.settle(seen, askedAt)
          return false
        }
        await account.share(seen, askedAt)
        return true
      },
      { timeout: 10_000, interval: 10 },
    )
  }
  return { account, check }
}
