import { httpRound, medianRound, type PeerRow, type Round, settleDuplicates, withCpu } from './measure-peers.ts'
import { runPowertools } from './run-powertools.ts'
import { runRedisBenchmark } from './run-redis-benchmark.ts'
import type { RedisServer } from './start-redis.ts'
import type { Service } from './start-service.ts'

const clients = 64
/** About what redis-benchmark does in the seconds that the others get. */
const bareCommandsPerSecond = 30_000

/** Rows of window classes on one Redis, and what a settled key took of its memory, in bytes. `storeUs` is Redis' CPU. */
export type WindowFigures = { rows: PeerRow[]; bytesPerKey: number }

/**
 * Every contender once per round, one after the other. `service` keeps the load's class in windows of that Redis.
 */
export async function measureWindows(
  { service, redis }: { service: Service; redis: RedisServer },
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<WindowFigures> {
  await keepInWindows(service)
  // The CPU that is told apart is that of the store: here Redis.
  const measured = { ...service, postmasterPid: redis.pid }
  const load = { ...service, connections: clients, seconds }
  const inProcess = (run: () => Promise<number>): Promise<Round> =>
    withCpu(measured, run, (perSecond) => perSecond * seconds).then(({ result, storeUs }) => ({
      perSecond: result,
      ...{ p50Ms: null, p99Ms: null, apiUs: null, storeUs },
    }))
  let round = 0
  const contenders: Record<string, () => Promise<Round>> = {
    'redis-benchmark, bare SET NX PX': () =>
      inProcess(() => runRedisBenchmark(redis.port, clients, bareCommandsPerSecond * seconds)),
    'Powertools idempotency in process, claim and result': () =>
      inProcess(() => runPowertools(redis.port, { prefix: `powertools-${round}`, inFlight: clients, seconds })),
    'HTTP window claim': () => httpRound(measured, load, 'claims', [`window-${round}`], 1),
    'HTTP window claim then complete (two requests)': () =>
      httpRound(measured, load, 'pairs', [`window-pair-${round}`], 0.5),
    'HTTP window duplicate': () => httpRound(measured, load, 'duplicates', [`window-done-${round}`, '10000'], 1),
  }
  const results = new Map<string, Round[]>(Object.keys(contenders).map((name) => [name, []]))
  let bytesPerKey = Number.NaN
  for (round = 1; round <= rounds; round++) {
    const before = await redis.usedMemory()
    await settleDuplicates(service, `window-done-${round}`, null)
    bytesPerKey = ((await redis.usedMemory()) - before) / 10_000
    for (const [name, run] of Object.entries(contenders)) {
      const result = await run()
      results.get(name)?.push(result)
      console.error(`round ${round}: ${name}: ${Math.round(result.perSecond)}/s`)
    }
  }
  return { rows: [...results].map(([name, list]) => ({ name, ...medianRound(list) })), bytesPerKey }
}

async function keepInWindows(service: Service): Promise<void> {
  const answer = await fetch(`${service.url}/v1/classes/bench.claim`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ store: 'window', window_ms: 3_600_000 }),
  })
  if (!answer.ok) throw new Error(`the policy was answered ${answer.status}: ${await answer.text()}`)
}
