import type { ReadOutcome } from '@ranbook/rules'
import type { Runner } from './lane.ts'
import { readRecords } from './read-records.ts'
import { storedDigest } from './stored-fields.ts'

/** Ids of records whose lease the sweeper has to look at, oldest first. $1 how many. */
export const FIND_EXPIRED = `
SELECT id FROM record WHERE sweep_at <= date_trunc('milliseconds', now()) ORDER BY sweep_at LIMIT $1::int`

/** See `RecordStore.findExpired`. The records are read after they were found; those settled in between are left out. */
export async function findExpired(runner: Runner, limit: number): Promise<ReadOutcome[]> {
  const ids = await runner.run<readonly [id: string]>(FIND_EXPIRED, [limit])
  const found = await readRecords(
    runner,
    ids.map(([id]) => ({ digest: storedDigest(id), claimToken: null })),
  )
  return found.flatMap((outcome) => {
    const sweepAt = outcome?.record.sweepAt ?? null
    return outcome !== null && sweepAt !== null && sweepAt <= outcome.now ? [outcome] : []
  })
}
