import type { DuplicateTally } from '@ranbook/rules'
import { distinctRounds } from '../distinct-rounds.ts'
import { plainArray, timeArray } from './array-literal.ts'
import type { Runner } from './lane.ts'

/**
 * Adds to tallies, of records that still stand.
 *
 * $1 record_id, $2 count, $3 first_at, $4 last_at (seconds since 1970): arrays of one length, ids ascending, no id twice.
 */
export const ADD_DUPLICATES = `
INSERT INTO duplicate_tally AS d (record_id, count, first_at, last_at)
SELECT t.record_id, t.count, to_timestamp(t.first_at), to_timestamp(t.last_at)
FROM unnest($1::uuid[], $2::bigint[], $3::float8[], $4::float8[]) AS t (record_id, count, first_at, last_at)
WHERE EXISTS (SELECT 1 FROM record AS r WHERE r.id = t.record_id)
ON CONFLICT (record_id) DO UPDATE SET
  count = d.count + EXCLUDED.count,
  first_at = LEAST(d.first_at, EXCLUDED.first_at),
  last_at = GREATEST(d.last_at, EXCLUDED.last_at)`

type Tally = { digest: string } & DuplicateTally

/** See `RecordStore.addDuplicates`. */
export async function addDuplicates(runner: Runner, tallies: readonly Tally[]): Promise<void> {
  // Each is its own guard: of two tallies of one record both count.
  for (const round of distinctRounds(tallies, (tally) => tally)) {
    const items = round.map(({ item }) => item)
    await runner.run(ADD_DUPLICATES, [
      plainArray(items.map(({ digest }) => digest)),
      plainArray(items.map(({ count }) => count)),
      timeArray(items.map(({ firstAt }) => firstAt)),
      timeArray(items.map(({ lastAt }) => lastAt)),
    ])
  }
}
