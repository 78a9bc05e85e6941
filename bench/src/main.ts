import { rmSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { findPgbench } from './find-pgbench.ts'
import { measureGrowth } from './measure-growth.ts'
import { measurePeers } from './measure-peers.ts'
import { measureWindows } from './measure-windows.ts'
import { reportMarkdown } from './report-markdown.ts'
import { startRedis } from './start-redis.ts'
import { makeFolder, startService } from './start-service.ts'

// Everything in one run, on one Postgres, on one machine: only the ratios mean something elsewhere.

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const seconds = Number(process.env['BENCH_SECONDS'] ?? 8)
const rows = Number(process.env['BENCH_ROWS'] ?? 1_000_000)

const pgbench = findPgbench()
const folders = [makeFolder(), makeFolder(), makeFolder()] as const
try {
  // Each part has a database of its own: what the growth leaves to vacuum would be paid by whoever runs next.
  const growing = await startService(folders[0], 1)
  const growth = await measureGrowth(growing, rows).finally(growing.stop)
  const service = await startService(folders[1], 1)
  const twin = await startService(folders[1], 2)
  const peers = await measurePeers({ service, twin }, { pgbench, rounds, seconds })
    .finally(twin.stop)
    .finally(service.stop)
  const redis = await startRedis(folders[2])
  const windowed = await startService(folders[2], 1, redis.port)
  const windows = await measureWindows({ service: windowed, redis }, { rounds, seconds })
    .finally(windowed.stop)
    .finally(redis.stop)
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`
  const report = reportMarkdown({ growth, peers, windows, machine, rounds, seconds })
  console.log(report)
  const page = fileURLToPath(new URL('../README.md', import.meta.url))
  if (process.argv.includes('--write')) writeFileSync(page, report)
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true })
}
