import type { HttpDeps } from '../http/http-deps.ts'

/** A database that needs longer for the time of day can't serve claims. */
const probeLimitMs = 1000
/** Readiness is open to everybody: however often it is asked, the database is asked four times a second. */
const probeKeptMs = 250

export type HealthDeps = {
  /** Asks the database for its clock, which proves that it answers. */
  storeNow: () => Promise<number>
  /** Such as `embedded PostgreSQL`. Shown to everybody, so it names no host. */
  database: string
  /** Null where none is set. What is wrong with it never makes the process unready: ledger classes go on. */
  redis: { usable: () => boolean; mayEvict: () => boolean } | null
  processNow: () => number
  draining: () => boolean
}

/** Ready while the database answers and the process is not draining. */
export function createHealth({ storeNow, database, redis, processNow, draining }: HealthDeps): HttpDeps['health'] {
  let probe: { answers: Promise<boolean>; since: number } | null = null

  const storeAnswers = (): Promise<boolean> => {
    const now = processNow()
    if (probe === null || now - probe.since > probeKeptMs) probe = { answers: answersInTime(storeNow), since: now }
    return probe.answers
  }

  return {
    draining,
    readiness: async () => {
      const ok = await storeAnswers()
      const note = ok ? database : `${database} does not answer`
      const postgres = { ok, note }
      const stores = redis === null ? { postgres } : { postgres, redis: redisState(redis) }
      return { ready: ok && !draining(), stores }
    },
  }
}

function redisState({ usable, mayEvict }: NonNullable<HealthDeps['redis']>): { ok: boolean; note: string } {
  if (usable()) return { ok: true, note: 'Redis' }
  return { ok: false, note: mayEvict() ? 'Redis may forget keys' : 'Redis does not answer' }
}

async function answersInTime(storeNow: () => Promise<number>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, probeLimitMs, false)
  })
  const answered = storeNow().then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([answered, late])
  } finally {
    clearTimeout(timer)
  }
}
