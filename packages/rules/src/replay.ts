import type { LeftOutReason, RecordState } from '@ranbook/contract'
import type { Change } from './decide.ts'
import { beforeArming, isLeaseLive, type LedgerRecord, type ReplayFacts, visibleState } from './record.ts'

/** A replay as the rules see it: `new` wants a second effect downstream, `same` the original outcome. */
export type ReplayOrder = { id: string; reason: string; idempotency: 'same' | 'new' }

/** What a push needs besides: something to post, and where to. */
export type PushNeeds = { hasPayload: boolean; hasTarget: boolean }

/** `arm`: apply `change`. `mayRunAgain`: downstream may have forgotten the idempotency key that is used again. */
export type Arming = { kind: 'arm'; change: Change; mayRunAgain: boolean } | { kind: 'left_out'; reason: LeftOutReason }

/**
 * What a replay makes of a record: ready for its next generation, or left as it is. The generation that stood stays in
 * the record, untouched, until the next grant archives it. `push` null: nothing is posted. Pure; `now` is the store's clock in ms as read with the record.
 */
export function arm(
  record: LedgerRecord,
  order: ReplayOrder,
  { downstreamMemoryMs, push }: { downstreamMemoryMs: number; push: PushNeeds | null },
  now: number,
): Arming {
  if (record.window !== null) return { kind: 'left_out', reason: 'window_class' }
  const state = visibleState(record, now)
  if (state === 'claimed') {
    // Interrupted, it may run still, and the next delivery is granted anyway.
    return { kind: 'left_out', reason: isLeaseLive(record, now) ? 'running' : 'already_ready' }
  }
  if (state === 'ready') return { kind: 'left_out', reason: 'already_ready' }
  if (push?.hasPayload === false) return { kind: 'left_out', reason: 'payload_erased' }
  if (push?.hasTarget === false) return { kind: 'left_out', reason: 'no_target' }
  const generation = record.generation + 1
  const replay: ReplayFacts = {
    id: order.id,
    reason: order.reason,
    keyGeneration: order.idempotency === 'new' ? generation : keyGeneration(record),
    armed: {
      state,
      cause: record.cause,
      leaseExpiresAt: record.leaseExpiresAt,
      endedAt: record.endedAt,
      availableAt: record.availableAt,
      replay: record.replay === null ? null : { ...record.replay, armed: null },
    },
  }
  return {
    kind: 'arm',
    change: changeTo(record, {
      state: 'ready',
      cause: 'replay',
      leaseExpiresAt: null,
      sweepAt: null,
      // Since when it waits for a delivery.
      endedAt: now,
      availableAt: null,
      replay,
    }),
    mayRunAgain:
      order.idempotency === 'same' && hasRun(state) && (record.endedAt ?? record.claimedAt) + downstreamMemoryMs < now,
  }
}

/** What takes a replay's arming back, as if it had never been; null where the next delivery took it up already. */
export function disarm(record: LedgerRecord, replayId: string): Change | null {
  if (record.replay?.id !== replayId || record.replay.armed === null) return null
  return changeTo(record, { ...beforeArming(record), version: record.version + 1, sweepAt: null })
}

/** The generation that the idempotency key is made from: the record's own, or that of an earlier one which a replay repeats. */
export function keyGeneration({ generation, replay }: Pick<LedgerRecord, 'generation' | 'replay'>): number {
  if (replay === null) return generation
  // Armed, it shows the generation that stands still.
  return replay.armed === null ? replay.keyGeneration : (replay.armed.replay?.keyGeneration ?? generation)
}

/** Does the generation that the replay opens or opened ask for a second effect? */
export function idempotencyOf({ generation, replay }: LedgerRecord): 'same' | 'new' {
  if (replay === null) return 'same'
  return replay.keyGeneration === (replay.armed === null ? generation : generation + 1) ? 'new' : 'same'
}

/** May downstream have acted under the idempotency key? What was skipped never reached it. */
function hasRun(state: RecordState): boolean {
  return state !== 'skipped'
}

function changeTo(record: LedgerRecord, fields: Partial<LedgerRecord>): Change {
  return {
    expectVersion: record.version,
    record: { ...record, version: record.version + 1, ...fields },
    grants: false,
    archive: null,
    fill: null,
    audit: null,
  }
}
