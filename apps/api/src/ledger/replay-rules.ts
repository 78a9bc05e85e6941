import type { Policy } from '@ranbook/contract'
import { arm, coversRecord, disarm, type ReplayRules, type ReplayWrite } from '@ranbook/rules'
import type { PolicyBook } from './ledger-deps.ts'

/** What `arm` asks about a record of a class besides the record itself. */
export function armingNeeds(
  policy: Policy,
  delivery: 'rearm' | 'push',
  hasPayload: boolean,
): Parameters<typeof arm>[2] {
  const push = delivery === 'push' ? { hasPayload, hasTarget: policy.replay_target !== null } : null
  return { downstreamMemoryMs: policy.downstream_memory_ms, push }
}

/** What a step of a replay does, by the policies in force. `arm` throws `PoliciesStale` where one can't be read. */
export function replayRules(policies: Pick<PolicyBook, 'policyFor' | 'requireFresh'>): ReplayRules {
  return {
    arm(replay, targets, now) {
      // By older ones a class could be armed that asks for a second person since.
      policies.requireFresh()
      const writes: ReplayWrite[] = []
      for (const { recordId, standing } of targets) {
        if (standing === null || !coversRecord(replay.scope, standing.record)) {
          writes.push({ leftOut: recordId.startsWith('win_') ? 'window_class' : 'forgotten' })
          continue
        }
        const { record, hasPayload } = standing
        const policy = policies.policyFor(record.class)
        const arming = arm(record, replay, armingNeeds(policy, replay.delivery, hasPayload), now)
        if (arming.kind === 'left_out') writes.push({ leftOut: arming.reason })
        else if (policy.replay_approval === 'second_person' && replay.approvedBy === null) return null
        else writes.push({ record: arming.change.record })
      }
      return writes
    },
    putBack: (replay, record) => disarm(record, replay.id)?.record ?? null,
  }
}
