import type { WindowLoss } from '@ranbook/rules'
import type { ColdConnections } from './cold-connections.ts'
import type { Session } from './lane.ts'
import { BUMP_WINDOW_REVISION } from './place-statements.ts'
import { DECLARE_REDIS_LOSS, FIRST_REDIS_STATE, NEXT_REDIS_STATE, READ_REDIS_STATE } from './redis-state-statements.ts'

/** A loss of every window class, without its end: that is where the last record that Redis may have lost is over. */
export type RedisLoss = Pick<WindowLoss, 'cause' | 'fromAt' | 'toAt' | 'detail'>

/** What is known of Redis, as a JSON text that all processes share. Throws StoreError. */
export type RedisStateStore = {
  /** Null before the first time. */
  read(): Promise<string | null>
  /**
   * Writes what follows `standing` together with what was lost in between, both durable, or neither: false where
   * another state stands.
   */
  write(standing: string | null, next: string, losses: readonly RedisLoss[]): Promise<boolean>
  /** Declares losses that no state tells of. */
  declare(losses: readonly RedisLoss[]): Promise<void>
}

/** What is known of Redis, in the setting `window_redis`. */
export function createRedisStateStore({ reads, claims }: Pick<ColdConnections, 'reads' | 'claims'>): RedisStateStore {
  return {
    async read() {
      const [row] = await reads.use((session) => session.unsafe<{ state: string }[]>(READ_REDIS_STATE))
      return row?.state ?? null
    },

    write: (standing, next, losses) =>
      claims.use((session) =>
        session.begin(async (transaction) => {
          const written =
            standing === null
              ? await transaction.unsafe(FIRST_REDIS_STATE, [next])
              : await transaction.unsafe(NEXT_REDIS_STATE, [next, standing])
          if (written.length === 0) return false
          await declare(transaction, losses)
          return true
        }),
      ),

    declare: (losses) => claims.use((session) => session.begin((transaction) => declare(transaction, losses))),
  }
}

async function declare(transaction: Pick<Session, 'unsafe'>, losses: readonly RedisLoss[]): Promise<void> {
  for (const { cause, fromAt, toAt, detail } of losses) {
    await transaction.unsafe(DECLARE_REDIS_LOSS, [cause, fromAt, toAt, detail])
  }
  if (losses.length > 0) await transaction.unsafe(BUMP_WINDOW_REVISION)
}
