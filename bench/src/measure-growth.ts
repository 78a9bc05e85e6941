import postgres from 'postgres'
import { cpuSeconds, residentMb } from './cpu-seconds.ts'
import { runWrk } from './run-wrk.ts'
import type { Service } from './start-service.ts'

/** CPU of a window of single claims at a size of the table, in µs per claim, and where the API's memory stood. */
type GrowthPoint = { rows: number; claimsPerSecond: number; apiUs: number; postgresUs: number; apiRssMb: number }

export type Growth = {
  points: GrowthPoint[]
  /** Bytes of table and indexes per record, without payload, at the end. */
  bytesPerRecord: { table: number; indexes: number }
  /** RSS in MB of the API every second of the fill. */
  rss: { firstMb: number; maxMb: number; lastMb: number }
}

const windowSeconds = 6
const connections = 64
const batchSize = 100

/** Fills the ledger from empty to `rows` in batches, and measures single claims at 10 000, 100 000 and `rows`. */
export async function measureGrowth(service: Service, rows: number): Promise<Growth> {
  const sql = postgres({
    host: service.postgres.socketFolder,
    port: service.postgres.port,
    username: service.postgres.user,
    database: service.postgres.database,
    max: 1,
  })
  const resident: number[] = []
  const watch = setInterval(() => resident.push(residentMb(service.apiPid)), 1000)
  try {
    const points: GrowthPoint[] = []
    for (const size of [10_000, 100_000, rows]) {
      await fillTo(service, sql, size)
      points.push(await measureWindow(service, await countRows(sql)))
    }
    const [bytes] = await sql<{ table: number; indexes: number; records: number }[]>`
      select pg_table_size('record')::float8 as table, pg_indexes_size('record')::float8 as indexes,
             (select count(*)::int from record) as records`
    const records = bytes?.records ?? 0
    return {
      points,
      bytesPerRecord: { table: (bytes?.table ?? 0) / records, indexes: (bytes?.indexes ?? 0) / records },
      rss: { firstMb: resident[0] ?? 0, maxMb: Math.max(...resident), lastMb: resident.at(-1) ?? 0 },
    }
  } finally {
    clearInterval(watch)
    await sql.end()
  }
}

async function countRows(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ records: number }[]>`select count(*)::int as records from record`
  return row?.records ?? 0
}

async function fillTo(service: Service, sql: postgres.Sql, size: number): Promise<void> {
  for (let have = await countRows(sql); have < size; have = await countRows(sql)) {
    await runWrk('batch', [`fill-${have}`, String(batchSize)], {
      ...service,
      connections: 8,
      seconds: have === 0 ? 1 : 4,
    })
  }
}

async function measureWindow(service: Service, rows: number): Promise<GrowthPoint> {
  const api = cpuSeconds(service.apiPid)
  const database = cpuSeconds(service.postmasterPid)
  const load = await runWrk('claims', [`window-${rows}`], { ...service, connections, seconds: windowSeconds })
  const perClaim = (cpuNow: number, before: number) => ((cpuNow - before) * 1e6) / load.requests
  return {
    rows,
    claimsPerSecond: (load.requests * 1e6) / load.durationUs,
    apiUs: perClaim(cpuSeconds(service.apiPid), api),
    postgresUs: perClaim(cpuSeconds(service.postmasterPid), database),
    apiRssMb: residentMb(service.apiPid),
  }
}
