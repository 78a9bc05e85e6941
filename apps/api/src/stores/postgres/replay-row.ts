import type { ReplayState } from '@ranbook/contract'
import type { ReplaySelection, Scope, StoredReplay } from '@ranbook/rules'

/** The columns that every statement about replays answers. */
export type ReplayRow = {
  id: string
  state: ReplayState
  reason: string
  delivery: 'rearm' | 'push'
  idempotency: 'same' | 'new'
  created_by: string
  approved_by: string | null
  needs_approval: boolean
  error: string | null
  more: boolean
  selection: string
  scope: string
  count: number
  may_run_again: number
  place: number
  put_back_place: number
  armed: number
  pushed: number
  push_failed: number
  left_out: number
  put_back: number
  created_at: number
  ended_at: number | null
  after_id: string | null
  after_time: number | null
}

/** The replay of a row. */
export function storedReplay(row: ReplayRow): StoredReplay {
  return {
    id: row.id,
    selection: JSON.parse(row.selection) as ReplaySelection,
    scope: JSON.parse(row.scope) as Scope,
    reason: row.reason,
    delivery: row.delivery,
    idempotency: row.idempotency,
    createdBy: row.created_by,
    needsApproval: row.needs_approval,
    count: row.count,
    more: row.more,
    mayRunAgain: row.may_run_again,
    state: row.state,
    createdAt: row.created_at,
    approvedBy: row.approved_by,
    armed: row.armed,
    leftOut: row.left_out,
    putBack: row.put_back,
    pushed: row.pushed,
    pushFailed: row.push_failed,
    endedAt: row.ended_at,
    error: row.error,
  }
}
