// The one file that knows this process: its environment, standard streams, signals and end.
import cluster from 'node:cluster'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { type Config, type LogLevel, readConfig } from './config.ts'
import { createPrimary } from './process/create-primary.ts'
import { createLog, type Log } from './process/log.ts'
import { runWorker } from './process/run-worker.ts'
import { isStartRefusal } from './process/start-refused.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
const webRoot = fileURLToPath(new URL('../../web/dist', import.meta.url))

// Young objects are collected by this thread alone. V8's helper threads shorten pauses of a few milliseconds, but where
// service and database share the cores they cost about a tenth of the CPU of a claim.
setFlagsFromString('--no-parallel-scavenge')

// Whoever read what is written is gone. It was for them alone; the work goes on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const outcome = readConfig(process.env)
if (outcome.kind === 'refused') {
  complain(outcome.faults)
  process.exitCode = 1
} else if (cluster.worker !== undefined) {
  const log = openLog(outcome.config.logLevel)
  // The primary process hears the signals too and tells what to do; a terminal's Ctrl-C reaches both.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  runWorker({ worker: cluster.worker, log, exit: (code) => process.exit(code) })
} else {
  complain(outcome.warnings)
  await runPrimary(outcome.config)
}

async function runPrimary(config: Config): Promise<void> {
  const log = openLog(config.logLevel)
  const primary = createPrimary({
    config,
    log,
    version,
    webRoot: existsSync(webRoot) ? webRoot : null,
    say: (text) => process.stdout.write(text),
  })

  let ending = false
  const end = async (code: number): Promise<void> => {
    // Told twice, it is meant: the database's guard and the workers see to themselves.
    if (ending) process.exit(1)
    ending = true
    try {
      await primary.stop()
    } catch (error) {
      log.error({ error }, 'The server did not end in order')
      process.exit(1)
    }
    process.exit(code)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'Shutting down')
      void end(0)
    })
  }
  if (config.exitWithStdin) {
    process.stdin.once('close', () => {
      log.info({}, 'Shutting down, as the standard input has ended')
      void end(0)
    })
    process.stdin.on('error', () => {})
    process.stdin.resume()
  }

  try {
    await primary.start()
    log.info({ version, workers: config.workers }, 'Ready')
  } catch (error) {
    // What was being started was also being ended.
    if (ending) return
    if (isStartRefusal(error)) complain([error.message])
    else log.fatal({ error }, 'The start failed')
    await end(1)
  }
}

function openLog(level: LogLevel): Log {
  const log = createLog(level, process.pid, process.stderr)
  // Neither is ever expected: whatever state it left behind, a fresh process is better.
  const die = (error: unknown): never => {
    log.fatal({ error }, 'An error was caught by nobody')
    process.exit(1)
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)
  return log
}

function complain(sentences: readonly string[]): void {
  for (const sentence of sentences) process.stderr.write(`${sentence}\n`)
}
