import { type DuePush, type PushEnd, type PushStore, parseRecordId, type RecordStore } from '@ranbook/rules'
import { cloudEvent, cloudEventType, replayHeaders } from '../delivery/cloud-event.ts'
import type { PostOutcome, SignedPost } from '../delivery/post-signed.ts'
import { retryDelayMs } from '../delivery/retry-delay-ms.ts'
import type { PolicyBook } from './ledger-deps.ts'

/** At once in this process, and noted together. One target that hangs holds up no more than these, for 5 s. */
const pushesAtOnce = 32
/** Longer than a try may take, and noting it. */
const takenMs = 15_000

export type PushReplaysDeps = {
  pushes: PushStore
  records: Pick<RecordStore, 'readFull'>
  policies: Pick<PolicyBook, 'policyFor' | 'requireFresh'>
  post: (post: SignedPost) => Promise<PostOutcome>
  /** In [0, 1); spreads tries. */
  random: () => number
  /** Asked between pushes: true ends the run. */
  stopping: () => boolean
}

/**
 * Posts what replays have to post, until nothing is due. Any number of processes may run it at once: each push is one's at
 * a time. Throws `StoreError` and `PoliciesStale`; what was posted and could not be noted is posted again, with the same
 * id.
 */
export async function pushReplays(deps: PushReplaysDeps): Promise<void> {
  while (!deps.stopping()) {
    deps.policies.requireFresh()
    const due = await deps.pushes.takeDue(pushesAtOnce, takenMs)
    if (due.length === 0) return
    const tried = await Promise.allSettled(due.map(async (push) => ({ push, end: await pushOne(deps, push) })))
    await deps.pushes.end(tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
    const failure = tried.find((one) => one.status === 'rejected')
    if (failure !== undefined) throw failure.reason
  }
}

async function pushOne({ records, policies, post, random }: PushReplaysDeps, push: DuePush): Promise<PushEnd> {
  const digest = parseRecordId(push.recordId)?.digest ?? ''
  const [found] = (await records.readFull([digest])).rows
  if (!found || found.record.replay?.id !== push.replayId || found.record.replay.armed === null) {
    return { kind: 'not_needed' }
  }
  const { record, details } = found
  const target = policies.policyFor(record.class).replay_target
  if (target?.secret === undefined) return { kind: 'failed', error: 'the class has no replay_target any more' }
  const generation = record.generation + 1
  const outcome = await post({
    url: target.url,
    secret: target.secret,
    id: `replay_${push.replayId}_${push.place}`,
    contentType: cloudEventType,
    headers: replayHeaders({ id: push.replayId, reason: push.reason, generation }),
    body: cloudEvent({
      recordId: push.recordId,
      class: record.class,
      consumer: record.consumer,
      key: record.key,
      source: details.source,
      occurredAt: details.occurredAt,
      payload: details.payload,
      generation,
      replayId: push.replayId,
    }),
  })
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'delivered' }
    case 'refused':
      return { kind: 'failed', error: outcome.reason }
    case 'failed': {
      const inMs = retryDelayMs(push.tries, push.elapsedMs, random())
      return inMs === null ? { kind: 'failed', error: outcome.reason } : { kind: 'again', inMs, error: outcome.reason }
    }
  }
}
