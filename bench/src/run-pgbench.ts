import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from './capture.ts'

/** Where the benchmark's Postgres listens. */
export type PostgresPlace = { socketFolder: string; port: number; user: string; database: string }

/** Bare peers: what Postgres alone does with a single row per transaction, 64 clients, prepared statements. */
export const pgbenchScripts = {
  insert: `\\set k random(1, 9000000000000000000)
INSERT INTO bare (key, received_at) VALUES ('order:' || :k, now()) ON CONFLICT (key) DO NOTHING;
`,
  insertAndUpdate: `\\set k random(1, 9000000000000000000)
INSERT INTO bare (key, received_at) VALUES ('order:' || :k, now()) ON CONFLICT (key) DO NOTHING;
UPDATE bare SET processed_at = now(), result = '{"ok": true}' WHERE key = 'order:' || :k;
`,
} as const

/** Transactions per second and latencies (ms) of one of the scripts. */
export async function runPgbench(
  script: keyof typeof pgbenchScripts,
  place: PostgresPlace,
  options: { pgbench: string; clients: number; seconds: number; folder: string },
): Promise<{ tps: number; averageMs: number }> {
  const file = join(options.folder, `${script}.sql`)
  writeFileSync(file, pgbenchScripts[script])
  const child = spawn(
    options.pgbench,
    [
      ...['-n', '-M', 'prepared', '-c', String(options.clients), '-j', '2', '-T', String(options.seconds), '-f', file],
      ...['-h', place.socketFolder, '-p', String(place.port), '-U', place.user, place.database],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const output = await capture(child, 'pgbench')
  const tps = /^tps = ([\d.]+)/m.exec(output)?.[1]
  const averageMs = /^latency average = ([\d.]+) ms/m.exec(output)?.[1]
  if (tps === undefined || averageMs === undefined) throw new Error(`pgbench gave no figures:\n${output}`)
  return { tps: Number(tps), averageMs: Number(averageMs) }
}
