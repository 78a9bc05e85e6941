import { arm, coversRecord, disarm, type ReplayRules, type ReplayWrite } from '@ranbook/rules'
import type { PolicyBook } from './ledger-deps.ts'

/** What a step of a replay does, by the policies in force. `arm` throws `PoliciesStale` where one can't be read. */
export function replayRules(policies: Pick<PolicyBook, 'policyFor' | 'requireFresh'>): ReplayRules {
  return {
    arm(replay, targets, now) {
      // By older ones a class could be armed that asks for a second person since.
      policies.requireFresh()
      const writes: ReplayWrite[] = []
      for (const { recordId, record } of targets) {
        if (record === null || !coversRecord(replay.scope, record)) {
          writes.push({ leftOut: recordId.startsWith('win_') ? 'window_class' : 'forgotten' })
          continue
        }
        const policy = policies.policyFor(record.class)
        const arming = arm(record, replay, policy.downstream_memory_ms, now)
        if (arming.kind === 'left_out') writes.push({ leftOut: arming.reason })
        else if (policy.replay_approval === 'second_person' && replay.approvedBy === null) return null
        else writes.push({ record: arming.change.record })
      }
      return writes
    },
    putBack: (replay, record) => disarm(record, replay.id)?.record ?? null,
  }
}
