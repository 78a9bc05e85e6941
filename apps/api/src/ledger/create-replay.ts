import type { AuditEntry, NewReplay, ReplayStore, StoredReplay } from '@ranbook/rules'
import { type CountReplayDeps, countReplay } from './count-replay.ts'

export type ReplayRequest = Pick<NewReplay, 'id' | 'selection' | 'scope' | 'reason' | 'delivery' | 'idempotency'>

export type CreatedReplay =
  | { kind: 'created' | 'known'; replay: StoredReplay }
  /** Another replay has this id. */
  | { kind: 'taken' }

/**
 * Makes a replay, counted first, with its audit line in one transaction; one line, however many records. It runs from
 * then on, unless a class asks for a second person. The same request again is the same replay. Throws `StoreError` and
 * `PoliciesStale`.
 */
export async function createReplay(
  deps: CountReplayDeps & { replays: Pick<ReplayStore, 'create' | 'read'> },
  request: ReplayRequest,
  { actor, requestId }: Pick<AuditEntry, 'actor' | 'requestId'>,
): Promise<CreatedReplay> {
  const known = await deps.replays.read(request.id)
  if (known !== null) return repeated(known, request, actor)
  const { count, more, mayRunAgain, needsApproval } = await countReplay(deps, request.scope, request.selection, request)
  const { reason, delivery, idempotency, selection } = request
  const replay = await deps.replays.create(
    { ...request, createdBy: actor, needsApproval, count, more, mayRunAgain },
    {
      actor,
      action: 'replay.create',
      target: request.id,
      reason,
      before: null,
      after: JSON.stringify({ delivery, idempotency, count, more, ...shortSelection(selection) }),
      requestId,
    },
  )
  if (replay !== null) return { kind: 'created', replay }
  const other = await deps.replays.read(request.id)
  return other === null ? { kind: 'taken' } : repeated(other, request, actor)
}

/** Ids stand with the replay: here their number is enough to read. */
function shortSelection(selection: NewReplay['selection']) {
  return 'recordIds' in selection ? { record_ids: selection.recordIds.length } : { filter: selection.filter }
}

function repeated(known: StoredReplay, request: ReplayRequest, actor: string): CreatedReplay {
  const asAsked = ({ selection, scope, reason, delivery, idempotency }: ReplayRequest): string =>
    JSON.stringify([selection, scope, reason, delivery, idempotency])
  const same = known.createdBy === actor && asAsked(known) === asAsked(request)
  return same ? { kind: 'known', replay: known } : { kind: 'taken' }
}
