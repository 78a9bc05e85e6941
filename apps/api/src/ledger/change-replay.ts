import type { ReplayState } from '@ranbook/contract'
import { type AuditEntry, coversClass, type ReplayStore, type Scope, type StoredReplay } from '@ranbook/rules'

/** What people decide about a replay. */
export type ReplayVerb = 'approve' | 'pause' | 'resume' | 'cancel'

export type ReplayChange =
  | { kind: 'changed'; replay: StoredReplay }
  | { kind: 'refused'; detail: string }
  | { kind: 'not_found' }

/**
 * May a caller see a replay? Where all that its author could have touched lies within the caller's own scope. Outside
 * looks like absent.
 */
export function seesReplay(own: Scope, { scope }: Pick<StoredReplay, 'scope'>): boolean {
  const consumers = own.consumer === null || own.consumer === scope.consumer
  return consumers && scope.classes.every((name) => coversClass(own.classes, name))
}

/**
 * A person's decision about a replay, with its audit line in one transaction. To repeat one changes nothing. Throws
 * `StoreError`.
 */
export async function changeReplay(
  store: Pick<ReplayStore, 'change'>,
  scope: Scope,
  id: string,
  verb: ReplayVerb,
  audit: Pick<AuditEntry, 'actor' | 'reason' | 'requestId'>,
): Promise<ReplayChange> {
  let answer = { kind: 'not_found' } as ReplayChange
  const replay = await store.change(id, (standing) => {
    if (!seesReplay(scope, standing)) return null
    const next = nextState(standing, verb, audit.actor)
    answer = 'refused' in next ? { kind: 'refused', detail: next.refused } : { kind: 'changed', replay: standing }
    if ('refused' in next || next.state === standing.state) return null
    return {
      state: next.state,
      approvedBy: verb === 'approve' ? audit.actor : standing.approvedBy,
      audit: {
        ...audit,
        action: `replay.${verb}`,
        target: id,
        before: JSON.stringify({ state: standing.state }),
        after: JSON.stringify({ state: next.state }),
      },
    }
  })
  if (replay === null || answer.kind !== 'changed') return answer
  return { kind: 'changed', replay }
}

type NextState = { state: ReplayState } | { refused: string }

/** The state that a verb leads to, the same where it was done before, or why it can't be done. */
function nextState(
  {
    state,
    createdBy,
    approvedBy,
    needsApproval,
  }: Pick<StoredReplay, 'state' | 'createdBy' | 'approvedBy' | 'needsApproval'>,
  verb: ReplayVerb,
  actor: string,
): NextState {
  const from = (allowed: readonly ReplayState[], to: ReplayState): NextState =>
    state === to || allowed.includes(state) ? { state: to } : { refused: `The replay is ${state}; it can not ${verb}.` }
  switch (verb) {
    case 'approve':
      if (approvedBy === actor) return { state }
      if (createdBy === actor) return { refused: 'A second person has to approve it: not who asked for it.' }
      return state === 'awaiting_approval'
        ? { state: 'running' }
        : { refused: `The replay is ${state}; it waits for no approval.` }
    case 'pause':
      return from(['running'], 'paused')
    case 'resume':
      return needsApproval && approvedBy === null && state !== 'running'
        ? { refused: `The replay is ${state}; it has to be approved first.` }
        : from(['paused', 'failed'], 'running')
    case 'cancel':
      if (state === 'cancelled') return { state }
      return from(['awaiting_approval', 'running', 'paused', 'failed', 'finished'], 'cancelling')
  }
}
