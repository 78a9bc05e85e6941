import type { Growth } from './measure-growth.ts'
import type { PeerRow } from './measure-peers.ts'
import type { WindowFigures } from './measure-windows.ts'

/** The figures as `bench/README.md` keeps them. */
export function reportMarkdown(run: {
  growth: Growth
  peers: PeerRow[]
  windows: WindowFigures
  machine: string
  rounds: number
  seconds: number
}): string {
  const { growth, peers, windows } = run
  const find = (start: string) => peers.find(({ name }) => name.startsWith(start))?.perSecond ?? Number.NaN
  const insert = find('pgbench, bare single-row')
  const pair = find('pgbench, bare INSERT then')
  const base = (name: string) => (name.includes('then') ? pair : insert)
  const first = growth.points[0]
  const last = growth.points.at(-1)
  const cpu = (point: typeof first) => (point ? point.apiUs + point.postgresUs : Number.NaN)
  const { table, indexes } = growth.bytesPerRecord
  const claims = Math.max(
    ...peers.filter(({ name }) => /^HTTP claim(, RANBOOK_WORKERS=2)?$/.test(name)).map((row) => row.perSecond),
  )
  const batch = find('HTTP batch')
  const growthRatio = cpu(last) / cpu(first)
  const aims: [string, string, boolean][] = [
    ['HTTP claims at least 0.9 × bare pgbench', `${(claims / insert).toFixed(2)} ×`, claims / insert >= 0.9],
    ['batched claims at least 2 × bare pgbench', `${(batch / insert).toFixed(2)} ×`, batch / insert >= 2],
    ['CPU per claim grows by at most 15 % from first to last size', `${growthRatio.toFixed(2)} ×`, growthRatio <= 1.15],
    ['at most 350 bytes a record', `${Math.round(table + indexes)} bytes`, table + indexes <= 350],
    ['at most 250 MB of memory', `${Math.round(growth.rss.maxMb)} MB`, growth.rss.maxMb <= 250],
  ]

  const against = (row: PeerRow, peer: string): string => {
    const other = windows.rows.find(({ name }) => name.startsWith(peer))?.perSecond ?? Number.NaN
    return `${(row.perSecond / other).toFixed(2)} ×`
  }

  return `# Benchmark

\`npm run bench\` measures Ranbook beside its peers in one run: one machine, one durable PostgreSQL 18 (the embedded one,
\`fsync\` and \`synchronous_commit\` on), load, service and database on the same cores. Contenders take turns for
${run.seconds} s each, ${run.rounds} rounds, medians shown; 64 clients (8 for the batch). Only ratios mean something on another
machine. \`npm run bench -- --write\` writes this page.

It needs \`wrk\`, \`pgbench\`, \`redis-server\` and \`redis-benchmark\` (Debian's packages \`wrk\`, \`postgresql\` and \`redis\`). As root on Debian it installs what is
missing; elsewhere it says what to install, and ends.

Machine: ${run.machine}.

| contender | events/s | against bare pgbench | p50 ms | p99 ms | API CPU µs/event | Postgres CPU µs/event |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${peers.map((row) => `| ${row.name} | ${count(row.perSecond)} | ${(row.perSecond / base(row.name)).toFixed(2)} × | ${figure(row.p50Ms)} | ${figure(row.p99Ms)} | ${figure(row.apiUs)} | ${figure(row.storeUs)} |`).join('\n')}

Rows with "then" are compared with pgbench's INSERT then UPDATE, the others with its single INSERT. pgbench reports no
quantiles. The naive inbox runs in the benchmark's own process, so its CPU is not told apart.

## Windows

Classes with \`store: window\` on a Redis 7 of the benchmark's own, with the same load. Powertools runs its idempotency around
a handler that does nothing, in the benchmark's process, two commands a call, and is compared with a claim and with a claim
and its complete.

| contender | events/s | against bare SET NX PX | against Powertools | p50 ms | p99 ms | API CPU µs/event | Redis CPU µs/event |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${windows.rows.map((row) => `| ${row.name} | ${count(row.perSecond)} | ${against(row, 'redis-benchmark')} | ${against(row, 'Powertools')} | ${figure(row.p50Ms)} | ${figure(row.p99Ms)} | ${figure(row.apiUs)} | ${figure(row.storeUs)} |`).join('\n')}

A settled key without a result took ${Math.round(windows.bytesPerKey)} bytes of Redis' memory, as its process grew.

## Growth

From an empty, never analysed table, single claims through HTTP (64 connections) at three sizes:

| records | claims/s | API CPU µs/claim | Postgres CPU µs/claim | API RSS MB |
| ---: | ---: | ---: | ---: | ---: |
${growth.points.map((p) => `| ${count(p.rows)} | ${count(p.claimsPerSecond)} | ${figure(p.apiUs)} | ${figure(p.postgresUs)} | ${Math.round(p.apiRssMb)} |`).join('\n')}

CPU per claim at ${count(last?.rows ?? 0)} records: ${(cpu(last) / cpu(first)).toFixed(2)} × that at ${count(first?.rows ?? 0)}.
A record without payload takes ${Math.round(table + indexes)} bytes: ${Math.round(table)} in the table, ${Math.round(indexes)} in its indexes.
The API's memory during the growth: ${Math.round(growth.rss.firstMb)} MB at the start, ${Math.round(growth.rss.maxMb)} MB at most, ${Math.round(growth.rss.lastMb)} MB at the end.

## Against the aims

${aims.map(([aim, value, reached]) => `- ${aim}: ${value}, ${reached ? 'reached' : '**missed**'}.`).join('\n')}
`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ')
}

function figure(value: number | null): string {
  return value === null ? '–' : value.toFixed(1)
}
