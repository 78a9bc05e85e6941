import { type ClassCounts, type StatsStore, StoreError } from '@ranbook/rules'
import type { ColdConnections } from './cold-connections.ts'
import { hasCode } from './has-code.ts'
import { likePatterns } from './like-patterns.ts'
import * as statement from './stats-statements.ts'

type StatsRow = { at: number; run_times: string } & Omit<ClassCounts, 'runTimes'>

/** Counts by class and minute in Postgres. */
export function createStatsStore({ reads }: Pick<ColdConnections, 'reads'>): StatsStore {
  return {
    async add(minutes) {
      const rows = minutes.map(({ class: name, minute, counts }) => {
        const { runTimes, ...others } = counts
        return { class: name, minute, ...others, run_times: withoutTrailingZeros(runTimes) }
      })
      await reads.use((session) => session.unsafe(statement.ADD_STATS, [JSON.stringify(rows)]))
    },

    async read({ scope, class: name, from, to, stepMs }) {
      const patterns = JSON.stringify(likePatterns(scope.classes))
      const rows = await reads
        .use((session) => session.unsafe<StatsRow[]>(statement.READ_STATS, [patterns, name, from, to, stepMs]))
        .catch(refuseWide)
      return rows.map(({ run_times, ...row }) => ({
        ...row,
        runTimes: (JSON.parse(run_times) as (number | null)[]).map((count) => count ?? 0),
      }))
    },

    async forget(keptMs, limit) {
      const forgotten = await reads.use((session) => session.unsafe(statement.FORGET_STATS, [keptMs, limit]))
      return forgotten.count
    },
  }
}

/** query_canceled: the statement's time limit, enough for about a million minutes of classes. */
const TIME_LIMIT = '57014'

function refuseWide(error: unknown): never {
  if (!(error instanceof StoreError) || !hasCode(error.cause, TIME_LIMIT)) throw error
  const advice = 'Adding the counts up took too long and was given up; ask for a shorter span, or for one class.'
  throw new StoreError(error.code, error.message, { cause: error.cause, advice })
}

function withoutTrailingZeros(counts: readonly number[]): number[] {
  return counts.slice(0, counts.findLastIndex((count) => count !== 0) + 1)
}
