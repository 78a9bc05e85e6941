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

    end: (push, end) => upkeep.use((session) => session.begin((transaction) => endPush(transaction, push, end))),
  }
}

async function endPush(
  transaction: Pick<Session, 'unsafe'>,
  { replayId, place, tries }: DuePush,
  end: PushEnd,
): Promise<void> {
  if (end.kind === 'again') {
    await transaction.unsafe(statement.NOTE_RETRY, [replayId, place, tries, end.inMs, end.error])
    return
  }
  // Before the push itself, as whoever cancels the replay locks them in this order.
  await transaction.unsafe(statement.LOCK_REPLAY, [replayId])
  const error = end.kind === 'failed' ? end.error : null
  const ended = await transaction.unsafe(statement.END_PUSH, [replayId, place, end.kind, error])
  if (ended.length === 0) return
  if (end.kind !== 'not_needed') {
    const delivered = end.kind === 'delivered'
    await transaction.unsafe(statement.SET_OUTCOME, [replayId, place, delivered ? 'pushed' : 'push_failed'])
    await transaction.unsafe(statement.NOTE_PUSHED, [replayId, delivered ? 1 : 0, delivered ? 0 : 1])
  }
  await transaction.unsafe(statement.FINISH_PUSHED, [replayId])
}
