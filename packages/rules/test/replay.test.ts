import { describe, expect, test } from 'vitest'
import { decide } from '../src/decide.ts'
import { visibleState } from '../src/record.ts'
import { arm, disarm, idempotencyOf, keyGeneration } from '../src/replay.ts'
import { deepFreeze, now, policyWith, type Situation, situations, standing } from './record-situations.ts'

const order = deepFreeze({ id: '00000000-0000-4000-8000-0000000000bb', reason: 'lost', idempotency: 'same' } as const)
const rearm = { downstreamMemoryMs: 1_000_000, push: null }

/** Why a replay leaves it out; null: it is armed. */
const leftOut: Record<Situation, 'running' | 'already_ready' | null> = {
  'claimed with a live lease': 'running',
  'claimed with a lease in its last ms': 'running',
  'a retry claim whose lease is over': 'already_ready',
  'a retry claim noticed by the sweeper': 'already_ready',
  'a hold claim whose lease is over': null,
  'held by the sweeper': null,
  completed: null,
  'completed by an operator': null,
  'failed and waiting': null,
  'failed and due': null,
  'dead as not retryable': null,
  'dead as attempts failed': null,
  'dead by a lost lease': null,
  'dead by an operator': null,
  'skipped by an operator': null,
  'given back': 'already_ready',
  'sent back by an operator': 'already_ready',
  'armed after it completed': 'already_ready',
  'armed after it was held': 'already_ready',
  'armed after its lease was lost': 'already_ready',
}

describe.each(situations.map((row) => ({ ...row, reason: leftOut[row.situation] })))(
  '$situation under $rule',
  ({ record, reason }) => {
    test('is armed, or left out with the reason', () => {
      const arming = arm(record, order, rearm, now)
      if (reason !== null) {
        expect(arming).toEqual({ kind: 'left_out', reason })
        return
      }
      const replay = expect.objectContaining({ id: order.id, reason: 'lost', keyGeneration: 2 })
      expect(arming).toMatchObject({
        ...{ kind: 'arm', mayRunAgain: false },
        change: {
          expectVersion: 7,
          grants: false,
          archive: null,
          record: { version: 8, state: 'ready', cause: 'replay', replay },
        },
      })
    })

    test('put back it stands as before, and what was granted meanwhile is not put back', () => {
      const arming = arm(record, order, rearm, now)
      if (arming.kind === 'left_out') return
      const armed = arming.change.record
      expect(disarm(armed, 'another')).toBeNull()
      const back = disarm(armed, order.id)?.record
      expect(back).toEqual({ ...record, version: 9, state: visibleState(record, now), sweepAt: null })
      const request = { ...record, claimToken: '00000000-0000-4000-8000-0000000000cc', details: {} as never }
      const granted = decide(
        { record: armed, tokenSpent: false, now },
        request,
        policyWith({ maxAttempts: 1, rule: 'retry' }),
        0,
      )
      expect(granted.record).toMatchObject({ state: 'claimed', generation: 3, attempt: 1, result: null })
      expect(granted.change?.archive).toMatchObject({ generation: 2, attempt: 3, result: record.result })
      expect(disarm(granted.record, order.id)).toBeNull()
    })
  },
)

test('a window’s record is left out', () => {
  const record = { ...standing('completed', 'retry'), window: { place: 'redis', ms: 1000, degraded: false } } as const
  expect(arm(record, order, rearm, now)).toEqual({ kind: 'left_out', reason: 'window_class' })
})

test.each([
  [{ hasPayload: false, hasTarget: true }, 'payload_erased'],
  [{ hasPayload: true, hasTarget: false }, 'no_target'],
] as const)('a push with %j is left out as %s', (push, reason) => {
  const arming = arm(standing('completed', 'retry'), order, { ...rearm, push }, now)
  expect(arming).toEqual({ kind: 'left_out', reason })
})

test.each([
  ['same', 700, false],
  ['same', 699, true],
  ['new', 699, false],
] as const)(
  'with the %s key, settled 700 ms ago and %s ms remembered downstream: may run again %s',
  (idempotency, ms, may) => {
    const memory = { downstreamMemoryMs: ms, push: null }
    expect(arm(standing('completed', 'retry'), { ...order, idempotency }, memory, now)).toMatchObject({
      mayRunAgain: may,
    })
  },
)

test('the idempotency key is that of the generation that stands, until the next one opens', () => {
  const record = standing('completed', 'retry')
  const armed = (idempotency: 'same' | 'new') => {
    const arming = arm(record, { ...order, idempotency }, rearm, now)
    if (arming.kind === 'left_out') throw new Error(arming.reason)
    return arming.change.record
  }
  expect([keyGeneration(record), keyGeneration(armed('same')), keyGeneration(armed('new'))]).toEqual([2, 2, 2])
  expect([idempotencyOf(armed('same')), idempotencyOf(armed('new'))]).toEqual(['same', 'new'])
  const opened = (idempotency: 'same' | 'new') => {
    const { replay, ...rest } = armed(idempotency)
    return { ...rest, generation: 3, replay: replay && { ...replay, armed: null } }
  }
  expect([keyGeneration(opened('same')), keyGeneration(opened('new'))]).toEqual([2, 3])
  expect([idempotencyOf(opened('same')), idempotencyOf(opened('new'))]).toEqual(['same', 'new'])
})
