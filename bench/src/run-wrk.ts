import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { capture } from './capture.ts'

/** What a load did. Latencies in microseconds, as the client saw them. */
export type LoadReport = {
  requests: number
  durationUs: number
  errors: number
  non2xx: number
  p50Us: number
  p99Us: number
}

const luaFolder = fileURLToPath(new URL('../lua/', import.meta.url))

/**
 * Runs one of the load scripts against the service. Throws where a request failed or was not answered 2xx: a figure
 * from a run with errors means nothing.
 */
export async function runWrk(
  script: string,
  args: readonly string[],
  options: { url: string; key: string; connections: number; seconds: number },
): Promise<LoadReport> {
  const child = spawn(
    'wrk',
    [
      '-t1',
      `-c${options.connections}`,
      `-d${options.seconds}s`,
      '-s',
      `${luaFolder}${script}.lua`,
      options.url,
      '--',
      ...args,
    ],
    {
      env: { ...process.env, RANBOOK_KEY: options.key, RANBOOK_BENCH_REPORT: `${luaFolder}report.lua` },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const output = await capture(child, 'wrk')
  const line = /^REPORT (.+)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk gave no report:\n${output}`)
  const report = JSON.parse(line) as LoadReport
  if (report.errors > 0 || report.non2xx > 0) throw new Error(`wrk met errors: ${line}`)
  return report
}
