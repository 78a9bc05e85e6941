import { setTimeout as delay } from 'node:timers/promises'
import type { StoreWarning } from '../ledger/store-warning.ts'
import { type Job, repeatedly } from './job.ts'
import type { SeenMaster } from './judge-redis.ts'
import { lookAtRedis, type RedisMasters } from './look-at-redis.ts'
import { markerTtlMs, type RedisAccount } from './redis-account.ts'
import { mayEvict, redisSilent, redisWarnings } from './redis-warnings.ts'

const checkEveryMs = 1000
/** No grant relies on a look that is older than policies may be. One each second is so late in a process that hangs. */
const staleAfterMs = 2000
const renewEveryMs = 60_000
/** While keys may be evicted, nothing is granted there: what is evicted meanwhile is told of this often. */
const evictedEveryMs = 10_000
/** While another process declares or marks, it is looked again after this, so many times. */
const pauseMs = 50
const roundsMax = 10
/** How long the start waits for a first look. */
const firstLookMaxMs = 1000

export type RedisWatchDeps = {
  redis: RedisMasters
  account: RedisAccount
  /** The ledger's clock in ms. */
  storeNow: () => number
  /** A clock that nobody can set, in ms from anywhere. */
  monotonicMs: () => number
  /** Told once, where it begins. */
  warned: (warning: StoreWarning) => void
  /** Told once, where it ends. */
  mended: (warning: StoreWarning) => void
  failed: (error: unknown) => void
}

export type RedisWatch = Job & {
  /** Redis answers, keeps what it is told, and nothing that it lost is undeclared. */
  usable(): boolean
  /** True once a look that began after this call found nothing undeclared; false where none did within 2 s. */
  confirmed(): Promise<boolean>
  /** By its settings when it last answered. */
  mayEvict(): boolean
  warnings(): readonly StoreWarning[]
  /** Resolves after the first look, or a second. */
  looked: Promise<void>
}

/**
 * Looks at every master each second: whether it answers, may evict, and still has what it had. What may be lost is
 * declared as a `window_lost` span, durably, before this process grants anything there again.
 */
export function startRedisWatch(deps: RedisWatchDeps): RedisWatch {
  const { redis, account, storeNow, monotonicMs } = deps
  let renewedAt = monotonicMs()
  let evictedAt = Number.NEGATIVE_INFINITY
  /** When all was last known to be there; null while it is not. */
  let goodAt: number | null = null
  let evicts = false
  let warnings: StoreWarning[] = []

  const warn = (now: readonly Omit<StoreWarning, 'since'>[]): void => {
    const before = warnings
    warnings = now.map(
      (warning) =>
        before.find(({ target, sentence }) => target === warning.target && sentence === warning.sentence) ?? {
          since: Math.round(storeNow()),
          ...warning,
        },
    )
    for (const warning of before) if (!warnings.includes(warning)) deps.mended(warning)
    for (const warning of warnings) if (!before.includes(warning)) deps.warned(warning)
  }

  const look = async (): Promise<SeenMaster[]> => {
    const known = await account.load()
    try {
      return await lookAtRedis(redis, known)
    } catch (error) {
      goodAt = null
      warn([redisSilent])
      throw error
    }
  }

  const renew = async (at: number): Promise<void> => {
    if (at - renewedAt < renewEveryMs) return
    const masters = await account.load()
    await redis.eachMaster(async (node) => {
      const own = masters.find(({ id }) => id === node.id)
      if (own !== undefined) await node.expire(own.markerKey, markerTtlMs)
    })
    renewedAt = at
  }

  const check = async (): Promise<void> => {
    for (let round = 0; round < roundsMax; round++) {
      const at = monotonicMs()
      const askedAt = storeNow()
      const seen = await look()
      evicts = seen.some(mayEvict)
      warn(redisWarnings(seen))
      if (account.isWhole(seen, askedAt)) {
        goodAt = at
        await account.share(seen, askedAt)
        return renew(at)
      }
      // Whatever comes next, and whether it works or not: nothing is granted before all is known.
      goodAt = null
      if (evicts && at - evictedAt < evictedEveryMs) return
      if (evicts) evictedAt = at
      if (round > 0) await delay(pauseMs)
      await account.settle(seen, askedAt)
    }
  }

  let lookedOnce = (): void => {}
  const first = new Promise<void>((resolve) => {
    lookedOnce = resolve
  })
  const job = repeatedly(checkEveryMs, () => check().finally(lookedOnce), deps.failed)
  return {
    stop: job.stop,
    usable: () => goodAt !== null && !evicts && monotonicMs() - goodAt < staleAfterMs,
    async confirmed() {
      const askedAt = monotonicMs()
      while (goodAt === null || goodAt < askedAt) {
        if (monotonicMs() - askedAt > staleAfterMs) return false
        await delay(pauseMs)
      }
      return !evicts
    },
    mayEvict: () => evicts,
    warnings: () => warnings,
    looked: Promise.race([first, delay(firstLookMaxMs, undefined, { ref: false })]),
  }
}
