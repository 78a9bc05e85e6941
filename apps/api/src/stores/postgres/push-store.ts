import type { DuePush, PushEnd, PushStore } from '@ranbook/rules'
import type { ColdConnections } from './cold-connections.ts'
import type { Session } from './lane.ts'
import * as statement from './replay-statements.ts'

type PushRow = {
  replay_id: string
  place: number
  record_id: string
  tries: number
  reason: string
  elapsed_ms: number
}

/** What replays have to post, in Postgres. */
export function createPushStore({ upkeep }: Pick<ColdConnections, 'upkeep'>): PushStore {
  return {
    async takeDue(limit, takenMs) {
      const rows = await upkeep.use((session) => session.unsafe<PushRow[]>(statement.TAKE_PUSHES, [limit, takenMs]))
      return rows.map((row) => ({
        replayId: row.replay_id,
        place: row.place,
        recordId: row.record_id,
        reason: row.reason,
        tries: row.tries,
        elapsedMs: row.elapsed_ms,
      }))
    },

    end: (ended) =>
      upkeep.use((session) =>
        session.begin(async (transaction) => {
          const replays = [...new Set(ended.map(({ push }) => push.replayId))].sort()
          // Before the pushes themselves, and in one order: whoever cancels a replay, or notes others, locks them so.
          for (const id of replays) await transaction.unsafe(statement.LOCK_REPLAY, [id])
          await endPushes(transaction, ended)
          for (const id of replays) await transaction.unsafe(statement.FINISH_PUSHED, [id])
        }),
      ),
  }
}

async function endPushes(
  transaction: Pick<Session, 'unsafe'>,
  tried: readonly { push: DuePush; end: PushEnd }[],
): Promise<void> {
  const retries: object[] = []
  const ends: object[] = []
  for (const { push, end } of tried) {
    const of = { replay_id: push.replayId, place: push.place }
    if (end.kind === 'again') retries.push({ ...of, tries: push.tries, in_ms: end.inMs, error: end.error })
    else ends.push({ ...of, state: end.kind, error: end.kind === 'failed' ? end.error : null })
  }
  if (retries.length > 0) await transaction.unsafe(statement.NOTE_RETRIES, [JSON.stringify(retries)])
  const ended = await transaction.unsafe<{ replay_id: string; place: number; state: string }[]>(statement.END_PUSHES, [
    JSON.stringify(ends),
  ])
  const told = ended.filter(({ state }) => state !== 'not_needed')
  const outcomes = told.map(({ state, ...of }) => ({
    ...of,
    outcome: state === 'delivered' ? 'pushed' : 'push_failed',
  }))
  await transaction.unsafe(statement.SET_OUTCOMES, [JSON.stringify(outcomes)])
  for (const id of new Set(told.map(({ replay_id }) => replay_id))) {
    const states = told.flatMap(({ replay_id, state }) => (replay_id === id ? [state] : []))
    const pushed = states.filter((state) => state === 'delivered').length
    await transaction.unsafe(statement.NOTE_PUSHED, [id, pushed, states.length - pushed])
  }
}
