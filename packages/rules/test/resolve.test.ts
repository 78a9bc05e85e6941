import type { Resolution } from '@ranbook/contract'
import { resolutions } from '@ranbook/contract'
import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '../src/audit-entry.ts'
import { type LedgerRecord, visibleState } from '../src/record.ts'
import { resolve } from '../src/resolve.ts'
import { deepFreeze, now, type Situation, situations } from './record-situations.ts'

/** `when asked`: only with `end_live_claim`. */
const decidable: Record<Situation, 'yes' | 'no' | 'when asked'> = {
  'claimed with a live lease': 'when asked',
  'claimed with a lease in its last ms': 'when asked',
  'a retry claim whose lease is over': 'when asked',
  'a retry claim noticed by the sweeper': 'when asked',
  'a hold claim whose lease is over': 'yes',
  'held by the sweeper': 'yes',
  completed: 'no',
  'completed by an operator': 'no',
  'failed and waiting': 'yes',
  'failed and due': 'yes',
  'dead as not retryable': 'yes',
  'dead as attempts failed': 'yes',
  'dead by a lost lease': 'yes',
  'dead by an operator': 'yes',
  'skipped by an operator': 'no',
  'given back': 'yes',
  'sent back by an operator': 'yes',
  'armed after it completed': 'no',
  'armed after it was held': 'no',
  'armed after its lease was lost': 'no',
}

const audit: Omit<AuditEntry, 'before'> = deepFreeze({
  actor: 'key:ops',
  action: 'record.resolve',
  target: 'rec_0123456789abcdef0123456789abcdef',
  reason: 'the provider confirmed it',
  after: '{"state":"completed"}',
  requestId: 'r-1',
})

const decided: Record<Resolution, Partial<LedgerRecord>> = {
  completed: { state: 'completed', cause: 'operator', result: '{"ok":true}', error: null },
  retry: { state: 'ready', cause: 'retry' },
  dead: { state: 'dead', cause: 'operator' },
  skipped: { state: 'skipped', cause: 'operator' },
}

describe('every cell of the decision table', () => {
  test.each(
    situations.flatMap((row) =>
      resolutions.flatMap((decision) => [true, false].map((endLiveClaim) => ({ ...row, decision, endLiveClaim }))),
    ),
  )(
    '$situation under $rule, end_live_claim $endLiveClaim: an operator decides $decision',
    ({ situation, record, decision, endLiveClaim }) => {
      const command = deepFreeze({
        decision,
        result: decision === 'completed' ? '{"ok":true}' : null,
        endLiveClaim,
      })
      const may = decidable[situation] === 'yes' || (decidable[situation] === 'when asked' && endLiveClaim)
      const ended = { version: 8, leaseExpiresAt: null, sweepAt: null, endedAt: now, availableAt: null }
      const written =
        situation === 'given back' && decision === 'retry'
          ? { ...record, version: 8 }
          : { ...record, ...ended, ...decided[decision] }
      const before = JSON.stringify({ state: visibleState(record, now), attempt: record.attempt })
      expect(resolve(record, command, audit, now)).toEqual(
        may
          ? { expectVersion: 7, record: written, grants: false, archive: null, fill: null, audit: { ...audit, before } }
          : null,
      )
    },
  )
})
