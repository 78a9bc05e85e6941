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
  processNow: () => number
  draining: () => boolean
}

/** Ready while the database answers and the process is not draining. */
export function createHealth({ storeNow, database, processNow, draining }: HealthDeps): HttpDeps['health'] {
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
      return { ready: ok && !draining(), stores: { postgres: { ok, note } } }
    },
  }
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
