import {
  limits,
  type ReplayCreate,
  type ReplayDocument,
  type ReplayDryRun,
  replayCreateSchema,
  replayDecisionSchema,
  routes,
} from '@ranbook/contract'
import { parseRecordId, type ReplayFilter, type ReplaySelection, type StoredReplay, visibleState } from '@ranbook/rules'
import { changeReplay, type ReplayVerb, seesReplay } from '../../ledger/change-replay.ts'
import { countReplay, type ReplayCount, type SampledRecord } from '../../ledger/count-replay.ts'
import { createReplay } from '../../ledger/create-replay.ts'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { HttpDeps } from '../http-deps.ts'
import { parseQuery } from '../parse-query.ts'
import { pathParam } from '../path-param.ts'
import { type FieldFault, HttpProblem } from '../problem.ts'
import { hasBody, readJsonBody } from '../read-body.ts'
import { decodeTextCursor, encodeTextCursor, invalidCursor } from '../text-cursor.ts'
import { timeText } from '../time-text.ts'
import { invalidRequest, validate } from '../validate.ts'
import { timeOrNull } from '../write-record-file.ts'

/** `/v1/replays`: run records again on purpose. */
export function registerReplays(serve: Serve, { ledger, replays, monotonicMs }: HttpDeps): void {
  const counting = { store: ledger.store, policies: ledger.policies, monotonicMs }

  serve(routes.createReplay, async (call) => {
    const input = validate(replayCreateSchema, await readJsonBody(call))
    const { scope, actor } = call.caller
    const selection = selectionOf(input)
    if (input.dry_run === true) {
      return jsonAnswer(JSON.stringify(dryRun(await countReplay(counting, scope, selection, input))))
    }
    const made = await createReplay(
      { ...counting, replays },
      { ...input, id: input.replay_id ?? ledger.newToken(), selection, scope },
      { actor, requestId: call.requestId },
    )
    if (made.kind === 'taken') {
      throw new HttpProblem('replay_conflict', 'Another replay has this replay_id. Take a fresh UUID for each request.')
    }
    return jsonAnswer(JSON.stringify(replayDocument(made.replay)), 202)
  })

  serve(routes.listReplays, async (call) => {
    const { state, limit = limits.pageDefaultItems, cursor } = parseQuery(call, routes.listReplays.query)
    let before = cursor === undefined ? null : positionOf(cursor)
    // Those of others are left out of a page, so it may take several reads to fill one.
    const seen: StoredReplay[] = []
    for (;;) {
      const rows = await replays.list(state ?? null, before, limit + 1)
      seen.push(...rows.filter((replay) => seesReplay(call.caller.scope, replay)))
      const last = rows.at(-1)
      if (rows.length <= limit || seen.length > limit || last === undefined) break
      before = last
    }
    const page = seen.slice(0, limit)
    const last = page.at(-1)
    const next_cursor = seen.length > limit && last ? encodeCursor(last.createdAt, last.id.replaceAll('-', '')) : null
    return jsonAnswer(JSON.stringify({ data: page.map(replayDocument), next_cursor }))
  })

  serve(routes.getReplay, async (call) => {
    const { limit = limits.pageDefaultItems, cursor } = parseQuery(call, routes.getReplay.query)
    const id = replayId(pathParam(call, 'id'))
    const after = decodeTextCursor(cursor) ?? '0'
    if (!/^\d{1,15}$/.test(after)) throw invalidCursor()
    const replay = await replays.read(id)
    if (replay === null || !seesReplay(call.caller.scope, replay)) throw notFound()
    const items = await replays.items(id, Number(after), limit + 1)
    const page = items.slice(0, limit)
    const last = page.at(-1)
    const next_cursor = items.length > limit && last ? encodeTextCursor(String(last.place)) : null
    const data = page.map(({ recordId, outcome, at }) => ({ record_id: recordId, outcome, at: timeText(at) }))
    return jsonAnswer(JSON.stringify({ ...replayDocument(replay), records: { data, next_cursor } }))
  })

  const decides = (route: (typeof routes)[`${ReplayVerb}Replay`], verb: ReplayVerb): void =>
    serve(route, async (call) => {
      const { reason } = validate(replayDecisionSchema, hasBody(call) ? await readJsonBody(call) : {})
      const id = replayId(pathParam(call, 'id'))
      const audit = { actor: call.caller.actor, reason: reason ?? null, requestId: call.requestId }
      const change = await changeReplay(replays, call.caller.scope, id, verb, audit)
      switch (change.kind) {
        case 'not_found':
          throw notFound()
        case 'refused':
          throw new HttpProblem('replay_conflict', change.detail)
        case 'changed':
          return jsonAnswer(JSON.stringify(replayDocument(change.replay)))
      }
    })
  decides(routes.approveReplay, 'approve')
  decides(routes.pauseReplay, 'pause')
  decides(routes.resumeReplay, 'resume')
  decides(routes.cancelReplay, 'cancel')
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** Any other text names no replay. */
function replayId(text: string): string {
  const id = text.toLowerCase()
  if (!UUID.test(id)) throw notFound()
  return id
}

function notFound(): HttpProblem {
  return new HttpProblem('not_found', 'No replay with this id is in the scope of your key.')
}

function positionOf(cursor: string): { createdAt: number; id: string } {
  const { firstClaimedAt, digest } = decodeCursor(cursor)
  return { createdAt: firstClaimedAt, id: digest }
}

function selectionOf({ record_ids, filter }: ReplayCreate): ReplaySelection {
  if (record_ids === undefined) return { filter: filterOf(filter ?? {}) }
  const faults = record_ids.flatMap((id, at): FieldFault[] =>
    parseRecordId(id) === null
      ? [{ path: `record_ids[${at}]`, message: 'is no id of a record, such as a claim answers' }]
      : [],
  )
  if (faults.length > 0) throw invalidRequest(faults)
  return { recordIds: [...new Set(record_ids)] }
}

function filterOf(given: NonNullable<ReplayCreate['filter']>): ReplayFilter {
  return {
    class: given.class ?? null,
    consumer: given.consumer ?? null,
    state: given.state ?? null,
    keyPrefix: given.key_prefix ?? null,
    ref: given.ref ?? null,
    source: given.source ?? null,
    from: given.from === undefined ? null : Date.parse(given.from),
    to: given.to === undefined ? null : Date.parse(given.to),
  }
}

function filterView(filter: ReplayFilter): NonNullable<ReplayDocument['filter']> {
  const { state, from, to } = filter
  const view = {
    class: filter.class,
    consumer: filter.consumer,
    state,
    key_prefix: filter.keyPrefix,
    ref: filter.ref,
    source: filter.source,
    from: timeOrNull(from),
    to: timeOrNull(to),
  }
  const given = Object.entries(view).filter(([, value]) => value !== null)
  return Object.fromEntries(given) as NonNullable<ReplayDocument['filter']>
}

function dryRun(counted: ReplayCount): ReplayDryRun {
  const view = (sampled: SampledRecord) => sampledView(sampled, counted.now)
  return {
    count: counted.count,
    more: counted.more,
    may_run_again: counted.mayRunAgain,
    needs_approval: counted.needsApproval,
    sample: counted.sample.map(view),
    left_out: [...counted.leftOut].map(([reason, group]) => ({
      reason,
      count: group.count,
      sample: group.sample.map(view),
    })),
  }
}

function sampledView({ recordId, listed }: SampledRecord, now: number): ReplayDryRun['sample'][number] {
  if (listed === null) return { id: recordId, class: null, consumer: null, key: null, state: null }
  const { record } = listed
  const state = visibleState({ ...record, result: null }, now)
  return { id: recordId, class: record.class, consumer: record.consumer, key: record.key, state }
}

function replayDocument(replay: StoredReplay): ReplayDocument {
  const { selection } = replay
  return {
    id: replay.id,
    state: replay.state,
    reason: replay.reason,
    delivery: replay.delivery,
    idempotency: replay.idempotency,
    record_ids: 'recordIds' in selection ? [...selection.recordIds] : null,
    filter: 'filter' in selection ? filterView(selection.filter) : null,
    created_at: timeText(replay.createdAt),
    created_by: replay.createdBy,
    approved_by: replay.approvedBy,
    count: replay.count,
    more: replay.more,
    may_run_again: replay.mayRunAgain,
    armed: replay.armed,
    left_out: replay.leftOut,
    put_back: replay.putBack,
    pushed: replay.pushed,
    push_failed: replay.pushFailed,
    ended_at: timeOrNull(replay.endedAt),
    error: replay.error,
  }
}
