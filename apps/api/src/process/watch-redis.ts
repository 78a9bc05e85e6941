import { randomUUID } from 'node:crypto'
import { createRedisAccount } from '../jobs/redis-account.ts'
import { type RedisWatch, startRedisWatch } from '../jobs/redis-watch.ts'
import type { ClassBook } from '../ledger/class-book.ts'
import type { ColdConnections } from '../stores/postgres/cold-connections.ts'
import { createRedisStateStore } from '../stores/postgres/redis-state-store.ts'
import type { OpenRedis } from '../stores/redis/open-redis.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { reportFailures } from './report-failures.ts'

export type WatchRedisDeps = {
  redis: OpenRedis
  cold: ColdConnections
  classes: Pick<ClassBook, 'storeNow'>
  monotonicMs: () => number
  metrics: Pick<Metrics, 'windowLost'>
  log: Log
}

/** Starts the watch over Redis, which logs and counts what it finds. */
export function watchRedis({ redis, cold, classes, monotonicMs, metrics, log }: WatchRedisDeps): RedisWatch {
  const { storeNow } = classes
  const account = createRedisAccount({
    redis,
    state: createRedisStateStore(cold),
    storeNow,
    newEpoch: randomUUID,
    lost: ({ cause, detail }) => {
      metrics.windowLost(cause)
      log.warn({ code: cause }, `Redis may have lost keys of windows, which is declared as window_lost: ${detail}`)
    },
  })
  return startRedisWatch({
    redis,
    account,
    storeNow,
    monotonicMs,
    warned: ({ target, sentence }) => log.warn({ database: target }, sentence),
    mended: ({ target }) => log.info({ database: target }, 'What was warned of in Redis is over'),
    failed: reportFailures(log, 'redis watch'),
  })
}
