import { z } from 'zod'
import { parseTargetAllowlist, type TargetAllowlist, TargetAllowlistRefused } from './delivery/target-allowlist.ts'
import { nearestName } from './process/nearest-name.ts'
import { parseRedisTarget, RedisAddressRefused } from './stores/redis/redis-target.ts'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** How this installation is started. Every value is checked; nothing else of the environment is ever read. */
export type Config = {
  /** 0 lets the system choose one. */
  port: number
  host: string
  /** Null: the embedded database in `dataDir`. */
  databaseUrl: string | null
  /** Null: window classes are kept in Postgres. */
  redisUrl: string | null
  dataDir: string
  /** Somebody named the folder; else it is the default beside the checkout. */
  dataDirGiven: boolean
  /** Null: one is made at the first start. */
  adminKey: string | null
  /** Origin without a trailing slash. Null: made from host and port. */
  publicUrl: string | null
  workers: number
  sweepIntervalMs: number
  pruneIntervalMs: number
  /** Where replays and alerts may be sent to. Null: to any host that is not refused always. */
  targetAllowlist: TargetAllowlist | null
  logLevel: LogLevel
  /** Drain when the standard input ends: whoever started the server holds it open for as long as it shall run. */
  exitWithStdin: boolean
}

/** `warnings` and `faults` are sentences for the operator; secrets are named in them, never shown. */
export type ConfigOutcome =
  | { kind: 'ready'; config: Config; warnings: string[] }
  | { kind: 'refused'; faults: string[] }

function wholeNumber(min: number, max: number): z.ZodType<number, string> {
  const fits = (text: string): boolean => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max
  return z
    .string()
    .refine(fits, { error: `must be a whole number from ${min} to ${max}` })
    .transform(Number)
}

const variables = z.object({
  PORT: wholeNumber(0, 65_535).default(8080),
  HOST: z
    .string()
    .regex(/^[A-Za-z0-9_.:%-]+$/, {
      error: 'must be a host name or an address to listen on, without a scheme or a port',
    })
    .default('127.0.0.1'),
  DATABASE_URL: z
    .string()
    .refine(isPostgresUrl, { error: 'must be a URL such as postgres://user:password@host:5432/database' })
    .refine(namesOneHost, {
      error: 'must name one host, as several are not tried in turn: the address that always leads to the primary',
    })
    .optional(),
  REDIS_URL: z
    .string()
    .refine((url) => redisFault(url) === null, {
      error: ({ input }) => `must be the address of a Redis. ${redisFault(String(input)) ?? ''}`.replace(/\.$/, ''),
    })
    .optional(),
  RANBOOK_DATA_DIR: z
    .string()
    .refine((path) => !path.includes('\0'), { error: 'must be the path of a folder' })
    .default('./.ranbook'),
  RANBOOK_ADMIN_KEY: z
    .string()
    .min(32, { error: 'must have at least 32 characters' })
    .regex(/^[\x21-\x7e]*$/, { error: 'must consist of visible ASCII characters, as it is sent in a header' })
    .optional(),
  RANBOOK_PUBLIC_URL: z
    .string()
    .refine(isOrigin, { error: 'must be an address such as https://ranbook.example.com, without a path or a query' })
    .transform((url) => new URL(url).origin)
    .optional(),
  // Past the number of cores another process only costs memory; 64 is far past it on the machines this is for.
  RANBOOK_WORKERS: wholeNumber(1, 64).default(1),
  RANBOOK_SWEEP_INTERVAL_MS: wholeNumber(100, 60_000).default(1000),
  RANBOOK_PRUNE_INTERVAL_MS: wholeNumber(100, 86_400_000).default(60_000),
  RANBOOK_TARGET_ALLOWLIST: z
    .string()
    .transform((text, context) => {
      try {
        return parseTargetAllowlist(text)
      } catch (error) {
        if (!(error instanceof TargetAllowlistRefused)) throw error
        context.addIssue({ code: 'custom', message: error.message })
        return z.NEVER
      }
    })
    .optional(),
  LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
  RANBOOK_EXIT_WITH_STDIN: z.enum(['0', '1'], { error: 'must be 0 or 1' }).default('0'),
})
type Variable = keyof typeof variables.shape

const secrets: ReadonlySet<string> = new Set<Variable>(['DATABASE_URL', 'REDIS_URL', 'RANBOOK_ADMIN_KEY'])

/** Known to other versions, which keep a safety with it that would be missing here. */
const refusedHere: Readonly<Record<string, string>> = {
  RANBOOK_REWOUND_TO: 'the fencing sequence would not jump ahead after the restore',
  RANBOOK_PAYLOAD_KEY_FILE: 'payloads would be stored unencrypted',
}

/**
 * Reads the configuration from environment variables. An empty value counts as unset, as compose files write it.
 * Refuses with every wrong variable named, not only the first; warns of `RANBOOK_…` names that nothing reads.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): ConfigOutcome {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = variables.safeParse(given)
  const faults = parsed.success
    ? []
    : parsed.error.issues.map((issue) => fault(String(issue.path[0]), issue.message, given))
  for (const [name, consequence] of Object.entries(refusedHere)) {
    if (name in given) faults.push(`${name} is not available in this version: ${consequence}. Unset it to start.`)
  }
  if (!parsed.success || faults.length > 0) return { kind: 'refused', faults: [...new Set(faults)] }

  const read = parsed.data
  return {
    kind: 'ready',
    warnings: warnings(given),
    config: {
      port: read.PORT,
      host: read.HOST,
      databaseUrl: read.DATABASE_URL ?? null,
      redisUrl: read.REDIS_URL ?? null,
      dataDir: read.RANBOOK_DATA_DIR,
      dataDirGiven: given.RANBOOK_DATA_DIR !== undefined,
      adminKey: read.RANBOOK_ADMIN_KEY ?? null,
      publicUrl: read.RANBOOK_PUBLIC_URL ?? null,
      workers: read.RANBOOK_WORKERS,
      sweepIntervalMs: read.RANBOOK_SWEEP_INTERVAL_MS,
      pruneIntervalMs: read.RANBOOK_PRUNE_INTERVAL_MS,
      targetAllowlist: read.RANBOOK_TARGET_ALLOWLIST ?? null,
      logLevel: read.LOG_LEVEL,
      exitWithStdin: read.RANBOOK_EXIT_WITH_STDIN === '1',
    },
  }
}

function fault(name: string, message: string, given: Readonly<Record<string, string | undefined>>): string {
  return secrets.has(name) ? `${name} ${message}.` : `${name} ${message}; it is ${JSON.stringify(given[name])}.`
}

function warnings(given: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...Object.keys(variables.shape), ...Object.keys(refusedHere)]
  return Object.keys(given).flatMap((name) => {
    if (!name.startsWith('RANBOOK_') || known.includes(name)) return []
    const bare = name.slice('RANBOOK_'.length)
    const meant = known.includes(bare) ? bare : nearestName(name, known)
    return [`${name} is not a variable of Ranbook and is ignored; did you mean ${meant}?`]
  })
}

function isPostgresUrl(text: string): boolean {
  // The driver takes more than `URL` does, so only the outline is judged.
  if (!/^postgres(?:ql)?:\/\/[^\s/?#]+(?:[/?]\S*)?$/.test(text)) return false
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Why this is no address of a Redis, quoting nothing of it; null where it is one. */
function redisFault(text: string): string | null {
  try {
    parseRedisTarget(text)
    return null
  } catch (error) {
    if (error instanceof RedisAddressRefused) return error.message
    throw error
  }
}

/** Judged as the driver reads it: all from the first `@`, decoded. */
function namesOneHost(text: string): boolean {
  const [, authority = ''] = /^[a-z]+:\/\/([^/?]*)/.exec(text) ?? []
  const host = authority.slice(authority.indexOf('@') + 1)
  return !/,|%2c/i.test(host)
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.href === `${url.origin}/` && !/[?#]/.test(text)
}
