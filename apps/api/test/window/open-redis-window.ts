import { Redis } from 'ioredis'
import { openRedis } from '../../src/stores/redis/open-redis.ts'
import { createWindowStore } from '../../src/stores/window/create-window-store.ts'
import type { StartedRedis } from './start-redis.ts'
import type { OpenedWindow } from './window-cases.ts'

/** Windows over servers that were started. */
export async function openRedisWindow({ url, ports }: StartedRedis): Promise<OpenedWindow> {
  const redis = await openRedis({ url, failed: () => undefined })
  const clock = new Redis({ port: ports[0] ?? 0 })
  return {
    store: createWindowStore(redis.cells, 'redis'),
    clockPasses: async (time) => {
      for (;;) {
        const [seconds, micros] = await clock.time()
        if (Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) > time) return
      }
    },
    close: async () => {
      clock.disconnect()
      await redis.close()
    },
  }
}
