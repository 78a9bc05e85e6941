import postgres from 'postgres'
import { cpuSeconds } from './cpu-seconds.ts'
import { runNaiveInbox } from './run-naive-inbox.ts'
import { runPgbench } from './run-pgbench.ts'
import { runWrk } from './run-wrk.ts'
import type { Service } from './start-service.ts'

/** One row of the table: the median of the rounds. `perSecond` counts events, not requests. */
export type PeerRow = {
  name: string
  perSecond: number
  p50Ms: number | null
  p99Ms: number | null
  /** CPU in µs per event; null where it is not a process of ours. */
  apiUs: number | null
  /** That of Postgres, or of Redis where windows are measured. */
  storeUs: number
}

export type Round = Omit<PeerRow, 'name'>

const clients = 64
const batchSize = 100
const duplicateKeys = 10_000
/** About what a webhook carries. */
const payload = JSON.stringify({
  order_id: 88,
  amount: '129.00',
  currency: 'EUR',
  customer: 'cust_481',
  note: 'x'.repeat(140),
})

/** Every contender once per round, one after the other, so that a drift of the machine meets all of them. */
export async function measurePeers(
  { service, twin }: { service: Service; twin: Service },
  options: { pgbench: string; rounds: number; seconds: number },
): Promise<PeerRow[]> {
  const { seconds } = options
  const load = { ...service, connections: clients, seconds }
  const place = service.postgres
  const sql = postgres({
    host: place.socketFolder,
    port: place.port,
    username: place.user,
    database: place.database,
    max: 1,
  })
  await sql`create table bare (key text primary key, received_at timestamptz, processed_at timestamptz, result json)`
  await sql.end()
  const bare = { pgbench: options.pgbench, clients, seconds, folder: service.folder }
  let round = 0

  const contenders: Record<string, () => Promise<Round>> = {
    'pgbench, bare single-row INSERT … ON CONFLICT': async () => {
      const { result, storeUs } = await withCpu(
        service,
        () => runPgbench('insert', place, bare),
        (r) => r.tps * seconds,
      )
      return { perSecond: result.tps, p50Ms: null, p99Ms: null, apiUs: null, storeUs }
    },
    'naive inbox in process (postgres.js), insert': () => naive(service, 'insert', seconds),
    'HTTP claim': () => httpRound(service, load, 'claims', [`claim-${round}`], 1),
    'HTTP claim, RANBOOK_WORKERS=2': () =>
      httpRound(twin, { ...twin, connections: clients, seconds }, 'claims', [`twin-${round}`], 1),
    'HTTP claim with a 244-byte payload': () => httpRound(service, load, 'claims', [`payload-${round}`, payload], 1),
    [`HTTP batch of ${batchSize} claims`]: () =>
      httpRound(service, { ...load, connections: 8 }, 'batch', [`batch-${round}`, String(batchSize)], batchSize),
    'HTTP duplicate': () => httpRound(service, load, 'duplicates', [`done-${round}`, String(duplicateKeys)], 1),
    'HTTP duplicate, RANBOOK_WORKERS=2': () =>
      httpRound(
        twin,
        { ...twin, connections: clients, seconds },
        'duplicates',
        [`done-${round}`, String(duplicateKeys)],
        1,
      ),
    'pgbench, bare INSERT then UPDATE': async () => {
      const run = () => runPgbench('insertAndUpdate', place, bare)
      const { result, storeUs } = await withCpu(service, run, (r) => r.tps * seconds)
      return { perSecond: result.tps, p50Ms: null, p99Ms: null, apiUs: null, storeUs }
    },
    'naive inbox in process (postgres.js), insert then update': () => naive(service, 'insertAndUpdate', seconds),
    'HTTP claim then complete, RANBOOK_WORKERS=2': () =>
      httpRound(twin, { ...twin, connections: clients, seconds }, 'pairs', [`twins-${round}`], 0.5),
    'HTTP claim then complete (two requests)': () => httpRound(service, load, 'pairs', [`pair-${round}`], 0.5),
  }

  const measured = new Map<string, Round[]>(Object.keys(contenders).map((name) => [name, []]))
  for (round = 1; round <= options.rounds; round++) {
    await settleDuplicates(service, `done-${round}`)
    for (const [name, run] of Object.entries(contenders)) {
      const result = await run()
      measured.get(name)?.push(result)
      console.error(`round ${round}: ${name}: ${Math.round(result.perSecond)}/s`)
    }
  }
  return [...measured].map(([name, results]) => ({ name, ...medianRound(results) }))
}

/** One load over HTTP; a request may be a part of an event. */
export async function httpRound(
  service: Service,
  load: Parameters<typeof runWrk>[2],
  script: string,
  args: string[],
  eventsPerRequest: number,
): Promise<Round> {
  const api = cpuSeconds(service.apiPid)
  const { result, storeUs } = await withCpu(
    service,
    () => runWrk(script, args, load),
    (r) => r.requests * eventsPerRequest,
  )
  const events = result.requests * eventsPerRequest
  return {
    perSecond: (events * 1e6) / result.durationUs,
    p50Ms: result.p50Us / 1000,
    p99Ms: result.p99Us / 1000,
    apiUs: ((cpuSeconds(service.apiPid) - api) * 1e6) / events,
    storeUs,
  }
}

async function naive(service: Service, work: 'insert' | 'insertAndUpdate', seconds: number): Promise<Round> {
  const { result, storeUs } = await withCpu(
    service,
    () => runNaiveInbox(work, service.postgres, { inFlight: clients, seconds }),
    (perSecond) => perSecond * seconds,
  )
  return { perSecond: result, p50Ms: null, p99Ms: null, apiUs: null, storeUs }
}

/** Runs a load and tells the CPU of the service's store per event, in µs. */
export async function withCpu<T>(service: Service, run: () => Promise<T>, events: (result: T) => number) {
  const before = cpuSeconds(service.postmasterPid)
  const result = await run()
  return { result, storeUs: ((cpuSeconds(service.postmasterPid) - before) * 1e6) / events(result) }
}

/** Claims and completes the keys that the duplicates ask for; `result` null: without one. */
export async function settleDuplicates(
  service: Service,
  prefix: string,
  result: unknown = { ok: true },
): Promise<void> {
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as T
  }
  for (let first = 1; first <= duplicateKeys; first += 1000) {
    const claims = Array.from({ length: 1000 }, (_, i) => ({
      class: 'bench.claim',
      consumer: 'bench',
      key: `${prefix}-${first + i}`,
    }))
    const { decisions } = await post<{ decisions: { id: string; claim_token: string }[] }>('/v1/claims/batch', {
      claims,
    })
    const settlements = decisions.map(({ id, claim_token }) => ({
      id,
      claim_token,
      action: 'complete',
      ...(result === null ? {} : { result }),
    }))
    await post('/v1/settlements', { settlements })
  }
}

/** Of each figure the median over the rounds. */
export function medianRound(rounds: Round[]): Round {
  const median = (pick: (round: Round) => number | null): number | null => {
    const values = rounds.map(pick).filter((value) => value !== null)
    return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? null
  }
  return {
    perSecond: median((r) => r.perSecond) ?? 0,
    p50Ms: median((r) => r.p50Ms),
    p99Ms: median((r) => r.p99Ms),
    apiUs: median((r) => r.apiUs),
    storeUs: median((r) => r.storeUs) ?? 0,
  }
}
