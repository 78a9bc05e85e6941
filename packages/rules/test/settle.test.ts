import type { Policy } from '@ranbook/contract'
import { describe, expect, test } from 'vitest'
import type { LedgerRecord } from '../src/record.ts'
import { type SettleCommand, type Settlement, settle } from '../src/settle.ts'
import {
  attemptLimits,
  deepFreeze,
  expiryRules,
  keptResult,
  now,
  otherResult,
  policyWith,
  type Situation,
  situations,
  standing,
  tokenNames,
} from './record-situations.ts'

/** `late`: stale, and the result is kept as a late completion. `conflict`: another result than the first. */
type Word =
  | 'completed'
  | 'failed'
  | 'buried'
  | 'extended'
  | 'released'
  | 'same'
  | 'conflict'
  | 'settled'
  | 'stale'
  | 'late'

const newError = '{"message":"timed out"}'
const commands = {
  complete: { verb: 'complete', result: keptResult },
  'complete with another result': { verb: 'complete', result: otherResult },
  fail: { verb: 'fail', error: newError, retryable: true, retryAfterMs: null },
  'fail after a time of its own': { verb: 'fail', error: newError, retryable: true, retryAfterMs: 12_000 },
  'fail for good': { verb: 'fail', error: newError, retryable: false, retryAfterMs: null },
  extend: { verb: 'extend', leaseMs: null },
  release: { verb: 'release' },
} as const satisfies Record<string, SettleCommand>
type CommandName = keyof typeof commands

const columns = ['complete', 'complete with another result', 'fail', 'fail for good', 'extend', 'release'] as const

/** Rules 3 to 5 for the record's current token, by verb in the order of `columns`. */
const believed = ['completed', 'completed', 'failed', 'buried', 'extended', 'released'] as const
const failedAlready = ['settled', 'settled', 'same', 'same', 'settled', 'settled'] as const
const decidedOtherwise = ['late', 'late', 'stale', 'stale', 'stale', 'stale'] as const
const words: Record<Situation, readonly [Word, Word, Word, Word, Word, Word]> = {
  'claimed with a live lease': believed,
  'claimed with a lease in its last ms': believed,
  'a retry claim whose lease is over': believed,
  'a retry claim noticed by the sweeper': believed,
  'a hold claim whose lease is over': believed,
  'held by the sweeper': believed,
  completed: ['same', 'conflict', 'settled', 'settled', 'settled', 'settled'],
  'completed by an operator': decidedOtherwise,
  'failed and waiting': failedAlready,
  'failed and due': failedAlready,
  'dead as not retryable': failedAlready,
  'dead as attempts failed': failedAlready,
  'dead by a lost lease': believed,
  'dead by an operator': decidedOtherwise,
  'skipped by an operator': decidedOtherwise,
  'given back': ['settled', 'settled', 'settled', 'settled', 'settled', 'same'],
  'sent back by an operator': ['completed', 'completed', 'stale', 'stale', 'stale', 'stale'],
  'armed after it completed': ['stale', 'stale', 'stale', 'stale', 'stale', 'stale'],
  'armed after it was held': decidedOtherwise,
  'armed after its lease was lost': decidedOtherwise,
}

function wordFor(situation: Situation, command: CommandName): Word {
  const column = command === 'fail after a time of its own' ? 'fail' : command
  return words[situation][columns.indexOf(column)] as Word
}

const cases = situations.flatMap(({ situation, rule, record }) =>
  (Object.keys(commands) as CommandName[]).flatMap((command) =>
    attemptLimits.flatMap(({ limit, maxAttempts, usedUp }) =>
      expiryRules.map((policyRule) => ({
        situation,
        rule,
        record,
        command,
        limit,
        usedUp,
        policyRule,
        policy: policyWith({ maxAttempts, rule: policyRule }),
      })),
    ),
  ),
)

describe('every cell of the settle table, for the current token', () => {
  test.each(cases.map((row) => ({ ...row, word: wordFor(row.situation, row.command) })))(
    '$situation under $rule, $limit, policy $policyRule: $command is $word',
    ({ record, command, policy, usedUp, word }) => {
      const settlement = settle(record, 'current', commands[command], policy, now, 0.5)
      expect(settlement).toEqual(expectedSettlement(word, record, commands[command], usedUp))
    },
  )
})

describe('a token that is not the current one never changes anything', () => {
  test.each(
    cases
      .filter(({ limit, policyRule }) => limit === 'no limit' && policyRule === 'retry')
      .flatMap((row) => tokenNames.filter((name) => name !== 'current').map((token) => ({ ...row, token }))),
  )('$situation under $rule: $command with the $token token is stale', ({ record, command, policy, token }) => {
    const lateCompletion = token === 'earlier' && commands[command].verb === 'complete'
    const settlement = settle(record, token, commands[command], policy, now, 0.5)
    expect(settlement).toEqual({ kind: 'refused', code: 'stale_claim', lateCompletion })
  })
})

describe('results are compared by meaning', () => {
  const policy = policyWith({ maxAttempts: 10, rule: 'retry' })
  test.each([
    ['{"a":1,"b":[1.0]}', ' { "b" : [1e0], "a" : 1 } ', 'same'],
    ['"\\u0041"', '"A"', 'same'],
    ['9007199254740992', '9007199254740993', 'result_conflict'],
    ['{"a":null}', '{}', 'result_conflict'],
    [null, null, 'same'],
    ['null', 'null', 'same'],
    [null, 'null', 'result_conflict'],
    ['null', null, 'result_conflict'],
  ] as const)('completed with %j and again with %j: %s', (kept, again, answer) => {
    const record = deepFreeze({ ...standing('completed', 'retry'), result: kept })
    const settlement = settle(record, 'current', { verb: 'complete', result: again }, policy, now, 0)
    expect(settlement.kind === 'refused' ? settlement.code : settlement.kind).toBe(answer)
  })

  test('once the first result was erased, a complete is the same whatever it says, and no other verb is', () => {
    const erased = { result: null, error: null, owner: null, detailsErasedAt: now - 1 }
    const record = deepFreeze({ ...standing('completed', 'retry'), ...erased })
    const say = (command: SettleCommand) => settle(record, 'current', command, policy, now, 0)
    expect(say(commands.complete)).toEqual({ kind: 'same' })
    expect(say(commands['complete with another result'])).toEqual({ kind: 'same' })
    expect(say(commands.fail)).toMatchObject({ kind: 'refused', code: 'already_settled' })
  })
})

describe('extend', () => {
  const policy: Policy = policyWith({ maxAttempts: 10, rule: 'retry' })
  test.each([
    { situation: 'claimed with a live lease', leaseMs: 1000, leaseExpiresAt: now + 2500 },
    { situation: 'claimed with a live lease', leaseMs: 2500, leaseExpiresAt: now + 2500 },
    { situation: 'claimed with a live lease', leaseMs: 2501, leaseExpiresAt: now + 2501 },
    { situation: 'claimed with a live lease', leaseMs: null, leaseExpiresAt: now + 4000 },
    { situation: 'held by the sweeper', leaseMs: 1000, leaseExpiresAt: now + 1000 },
    { situation: 'dead by a lost lease', leaseMs: 1000, leaseExpiresAt: now + 1000 },
  ] as const)('never shortens: $situation extended by $leaseMs ms ends at $leaseExpiresAt', (row) => {
    const record = standing(row.situation, row.situation === 'held by the sweeper' ? 'hold' : 'retry')
    const settlement = settle(record, 'current', { verb: 'extend', leaseMs: row.leaseMs }, policy, now, 0)
    expect(settlement).toMatchObject({
      change: { record: { state: 'claimed', leaseExpiresAt: row.leaseExpiresAt, sweepAt: row.leaseExpiresAt } },
    })
  })
})

function expectedSettlement(word: Word, record: LedgerRecord, command: SettleCommand, usedUp: boolean): Settlement {
  const ended = { cause: null, leaseExpiresAt: null, sweepAt: null, endedAt: now, availableAt: null }
  const write = (fields: Partial<LedgerRecord>): Settlement => ({
    kind: 'write',
    change: {
      expectVersion: 7,
      record: { ...record, version: 8, ...fields },
      grants: false,
      archive: null,
      fill: null,
      audit: null,
    },
  })
  switch (word) {
    case 'completed': {
      const result = command.verb === 'complete' ? command.result : null
      return write({ ...ended, state: 'completed', result, error: null })
    }
    case 'failed': {
      const dead = { ...ended, state: 'dead', cause: 'attempts_failed', error: newError } as const
      if (usedUp) return write(dead)
      // The third attempt waits up to 1 000 * 2² ms; half the jitter is half of that.
      const waitMs = command.verb === 'fail' && command.retryAfterMs !== null ? 12_000 : 2000
      return write({ ...ended, state: 'failed', error: newError, availableAt: now + waitMs })
    }
    case 'buried':
      return write({ ...ended, state: 'dead', cause: 'not_retryable', error: newError })
    case 'extended': {
      const until = { leaseExpiresAt: now + 4000, sweepAt: now + 4000 }
      return write({ state: 'claimed', cause: null, endedAt: null, ...until })
    }
    case 'released':
      return write({ ...ended, state: 'ready', cause: 'released' })
    case 'same':
      return { kind: 'same' }
    case 'conflict':
      return { kind: 'refused', code: 'result_conflict', lateCompletion: false }
    case 'settled':
      return { kind: 'refused', code: 'already_settled', lateCompletion: false }
    case 'stale':
    case 'late':
      return { kind: 'refused', code: 'stale_claim', lateCompletion: word === 'late' }
  }
}
