import { pino } from 'pino'
import type { LogLevel } from '../config.ts'

/** One JSON line per call, of the fields that `logFields` names; every other field is dropped. */
export type Log = {
  debug(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
  fatal(fields: Record<string, unknown>, message: string): void
}

type FieldKind = 'text' | 'number' | 'error'

/**
 * Everything that may be logged beside the message. None of it can hold a header, a body, a token, a key or a
 * connection string; a route is its template, an error is described by `describeError`.
 */
const logFields: Readonly<Record<string, FieldKind>> = {
  request_id: 'text',
  caller: 'text',
  route: 'text',
  method: 'text',
  status: 'number',
  duration_ms: 'number',
  code: 'text',
  error: 'error',
  port: 'number',
  version: 'text',
  database: 'text',
  signal: 'text',
  exit_code: 'number',
  worker: 'number',
  worker_pid: 'number',
  workers: 'number',
  retry_in_ms: 'number',
  job: 'text',
  in_flight: 'number',
  store_clock_ms: 'number',
  process_ms: 'number',
}

/** Errors whose messages are written in this service and hold nothing that came from outside. */
const ownErrors: ReadonlySet<string> = new Set([
  'EmbeddedPostgresError',
  'IdentityCollision',
  'PoliciesStale',
  'PostgresRefused',
  'StoreError',
])

/** A longer text is cut: it is data that got into a field meant for a name. */
const textMaxChars = 200
/** Enough to find the line; the rest is Node's own. */
const stackMaxFrames = 8
const causeMaxDepth = 4

/**
 * Writes log lines of `level` and above to `to`.
 *
 * @param pid tells the processes of one installation apart.
 */
export function createLog(level: LogLevel, pid: number, to: { write(line: string): unknown }): Log {
  const logger = pino(
    { level, base: { pid }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => void to.write(line) },
  )
  const write =
    (at: 'debug' | 'info' | 'warn' | 'error' | 'fatal') =>
    (fields: Record<string, unknown>, message: string): void => {
      if (logger.isLevelEnabled(at)) logger[at](allowed(fields), message)
    }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
  }
}

function allowed(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    const kind = Object.hasOwn(logFields, name) ? logFields[name] : undefined
    switch (kind) {
      case 'text':
        if (typeof value === 'string') kept[name] = value.slice(0, textMaxChars)
        break
      case 'number':
        if (typeof value === 'number') kept[name] = value
        break
      case 'error':
        kept[name] = describeError(value, causeMaxDepth)
        break
      case undefined:
        break
    }
  }
  return kept
}

/**
 * Name, code and where it was thrown. Messages of libraries quote what they were given (a JSON error its body, a
 * database error its row), so only our own errors keep theirs.
 */
function describeError(error: unknown, depth: number): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error }
  const { name, message, cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return {
    name,
    ...(code === undefined ? {} : { code }),
    ...(ownErrors.has(name) ? { message } : {}),
    at: stackFrames(error),
    ...(cause === undefined || depth === 0 ? {} : { cause: describeError(cause, depth - 1) }),
  }
}

function stackFrames({ stack = '', message }: Error): string[] {
  const afterMessage = message === '' ? 0 : stack.indexOf(message) + message.length
  return stack
    .slice(afterMessage)
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, stackMaxFrames)
    .map((line) => line.trim().slice('at '.length))
}
