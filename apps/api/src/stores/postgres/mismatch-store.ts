import type { MismatchStore } from '@ranbook/rules'
import { ADD_MISMATCHES, FORGET_MISMATCHES } from './attention-statements.ts'
import type { ColdConnections } from './cold-connections.ts'

/** Counts of deliveries with another payload in Postgres. */
export function createMismatchStore({ reads }: Pick<ColdConnections, 'reads'>): MismatchStore {
  return {
    async add(counts) {
      const rows = counts.map(({ recordId, firstAt, lastAt, ...others }) => ({
        record_id: recordId,
        first_at: firstAt,
        last_at: lastAt,
        ...others,
      }))
      await reads.use((session) => session.unsafe(ADD_MISMATCHES, [JSON.stringify(rows)]))
    },

    async forget(keptMs, limit) {
      const forgotten = await reads.use((session) => session.unsafe(FORGET_MISMATCHES, [keptMs, limit]))
      return forgotten.count
    },
  }
}
