import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { CachePersistenceLayer } from '@aws-lambda-powertools/idempotency/cache'
import { createClient } from '@redis/client'

/**
 * Powertools' idempotency around a handler that does nothing, on the Redis at `port`: two commands for a fresh key, one
 * that says it is in progress and one that keeps the result. Returns calls per second with `inFlight` at a time.
 */
export async function runPowertools(
  port: number,
  { prefix, inFlight, seconds }: { prefix: string; inFlight: number; seconds: number },
): Promise<number> {
  const client = createClient({ socket: { port, host: '127.0.0.1' } })
  await client.connect()
  const config = new IdempotencyConfig({ eventKeyJmesPath: 'id', throwOnNoIdempotencyKey: true })
  // Else it warns with every call.
  config.registerLambdaContext({ getRemainingTimeInMillis: () => 60_000 } as Parameters<
    IdempotencyConfig['registerLambdaContext']
  >[0])
  const persistenceStore = new CachePersistenceLayer({ client })
  const handle = makeIdempotent(async (_event: { id: string }) => ({ ok: true }), { persistenceStore, config })
  let calls = 0
  const startedAt = performance.now()
  const until = startedAt + seconds * 1000
  const work = async (): Promise<void> => {
    while (performance.now() < until) {
      calls += 1
      await handle({ id: `${prefix}-${calls}` })
    }
  }
  await Promise.all(Array.from({ length: inFlight }, work))
  const perSecond = (calls * 1000) / (performance.now() - startedAt)
  client.destroy()
  return perSecond
}
