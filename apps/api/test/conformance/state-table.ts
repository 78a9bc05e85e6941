import { randomUUID } from 'node:crypto'
import { policySchema } from '@ranbook/contract'
import { noticeExpiry, type ResolveCommand, type SettleCommand } from '@ranbook/rules'
import { describe, expect, test } from 'vitest'
import type { SettleAnswer } from '../../src/ledger/settle.ts'
import { claim, resolve, settle } from './answered-verbs.ts'
import { changed, standing } from './asked-of-store.ts'
import { ledgerOn } from './ledger-on.ts'
import { claimRequest } from './new-record.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** Classes of the table, named for what their policy says. */
const policies = {
  'table.retry': policySchema.parse({ max_attempts: null }),
  'table.hold': policySchema.parse({ max_attempts: null, on_lease_expiry: 'hold' }),
  'table.two': policySchema.parse({ max_attempts: 2 }),
} as const
type ClassName = keyof typeof policies

const everywhere = { classes: ['*'], consumer: null }
const kept = '{"n": 1}'
const verbs = {
  complete: { verb: 'complete', result: kept },
  'complete otherwise': { verb: 'complete', result: '{"n": 2}' },
  fail: { verb: 'fail', error: '{"message":"no"}', retryable: true, retryAfterMs: 60_000 },
  extend: { verb: 'extend', leaseMs: 120_000 },
  release: { verb: 'release' },
} as const satisfies Record<string, SettleCommand>
type Verb = keyof typeof verbs

/** What leads to the situation: words of the current owner, of an operator, of the sweeper, or time. */
type Step = SettleCommand | ResolveCommand['decision'] | 'lease over' | 'sweep' | 'claimed by another'

/**
 * The protocol's table. `claims`: what a fresh token, the displaced first attempt's and the second's get. `settles`:
 * what the second attempt's owner gets for each of `verbs`, in order; everybody else gets `stale`.
 */
type Row = { on: ClassName; steps: readonly Step[]; claims: readonly string[]; settles: readonly string[] }

const accepted = ['completed', 'completed', 'failed', 'claimed', 'ready']
const decided = ['late', 'late', 'stale', 'stale', 'stale']
const settled = 'already_settled'
const failedWord = [settled, settled, 'same', settled, settled]
const failNow = { ...verbs.fail, retryAfterMs: 0 }
const failForGood = { ...verbs.fail, retryable: false }

const rows: Record<string, Row> = {
  'claimed under retry': row('table.retry', [], 'in_progress in_progress claimed', accepted),
  'claimed under hold': row('table.hold', [], 'in_progress in_progress claimed', accepted),
  'a retry claim whose lease is over': row(
    'table.retry',
    ['lease over'],
    'claimed:3 token_spent token_spent',
    accepted,
  ),
  'a retry claim met by the sweeper': row(
    'table.retry',
    ['lease over', 'sweep'],
    'claimed:3 token_spent token_spent',
    accepted,
  ),
  'the last retry claim, its lease over': row('table.two', ['lease over'], 'dead dead dead', [
    ...['completed', 'completed', 'dead', 'claimed', 'ready'],
  ]),
  'dead by a lost lease': row('table.two', ['lease over', 'claimed by another'], 'dead dead dead', [
    ...['completed', 'completed', 'dead', 'claimed', 'ready'],
  ]),
  'a hold claim whose lease is over': row('table.hold', ['lease over'], 'held held held', accepted),
  'held by the sweeper': row('table.hold', ['lease over', 'sweep'], 'held held held', accepted),
  completed: row('table.retry', [verbs.complete], 'duplicate duplicate duplicate', [
    ...['same', 'result_conflict', settled, settled, settled],
  ]),
  'completed by an operator': row('table.hold', ['completed'], 'duplicate duplicate duplicate', decided),
  'failed and waiting': row('table.retry', [verbs.fail], 'backoff backoff backoff', failedWord),
  'failed and due': row('table.retry', [failNow], 'claimed:3 token_spent token_spent', failedWord),
  'dead as not retryable': row('table.retry', [failForGood], 'dead dead dead', failedWord),
  'dead as attempts failed': row('table.two', [verbs.fail], 'dead dead dead', failedWord),
  'dead by an operator': row('table.retry', ['dead'], 'dead dead dead', decided),
  'skipped by an operator': row('table.retry', ['skipped'], 'duplicate duplicate duplicate', decided),
  'given back': row('table.two', [verbs.release], 'claimed:2 token_spent token_spent', [
    ...[settled, settled, settled, settled, 'same'],
  ]),
  'sent back by an operator': row('table.two', ['retry'], 'claimed:3 token_spent token_spent', [
    ...['completed', 'completed', 'stale', 'stale', 'stale'],
  ]),
}

function row(on: ClassName, steps: readonly Step[], claims: string, settles: readonly string[]): Row {
  return { on, steps, claims: claims.split(' '), settles }
}

const askers = ['a fresh token', 'the first owner', 'the second owner'] as const
type Asker = (typeof askers)[number]

const claimCases = Object.entries(rows).flatMap(([situation, { on, steps, claims }]) =>
  askers.map((asker, at) => ({ situation, on, steps, asker, answer: claims[at] ?? '' })),
)
const settleCases = Object.entries(rows).flatMap(([situation, { on, steps, settles }]) =>
  (Object.keys(verbs) as Verb[]).flatMap((verb, at) =>
    askers.map((asker) => ({ situation, on, steps, asker, verb, answer: answerTo(asker, verb, settles[at] ?? '') })),
  ),
)

function answerTo(asker: Asker, verb: Verb, owner: string): string {
  if (asker === 'the second owner') return owner
  return asker === 'the first owner' && verbs[verb].verb === 'complete' ? 'late' : 'stale'
}

/** Every cell of the state table, reached and asked through the ledger's verbs. */
export function stateTable(opened: StoreUnderTest): void {
  describe('every cell of the state table', () => {
    test.each(claimCases)('$situation: $asker is answered $answer', async ({ on, steps, asker, answer }) => {
      const { store } = opened()
      const arranged = await arrange(on, steps)
      const before = await standing(store, arranged.digest)
      const request = claimRequest({ class: on, key: arranged.key, claimToken: arranged.tokenOf(asker) })
      const [answered] = await claim(ledger(), [request])
      const [outcome, attempt] = answer.split(':')
      expect(answered?.outcome).toBe(outcome)
      const after = await standing(store, arranged.digest)
      expect(after).toEqual(answered?.record)
      if (attempt !== undefined) {
        expect(after).toMatchObject({ attempt: Number(attempt), claimToken: request.claimToken, state: 'claimed' })
        expect(after.fencingToken).toBeGreaterThan(before.fencingToken)
        const { attempts } = await store.readHistory(arranged.digest)
        expect(attempts.map(({ claimToken }) => claimToken)).toEqual(arranged.tokens)
      } else if (answer !== before.state && answer === 'dead') {
        expect(after).toMatchObject({ state: 'dead', cause: 'attempts_lost', version: before.version + 1 })
      } else {
        expect(after).toEqual(before)
      }
    })

    test.each(settleCases)('$situation: $verb by $asker is $answer', async ({ on, steps, asker, verb, answer }) => {
      const { store } = opened()
      const { digest, tokenOf } = await arrange(on, steps)
      const before = await standing(store, digest)
      const item = { digest, claimToken: tokenOf(asker), command: verbs[verb] }
      const [answered] = await settle(ledger(), everywhere, [item])
      const after = await standing(store, digest)
      const { lateCompletions } = await store.readHistory(digest)
      expect(lateCompletions.map(({ claimToken, result }) => ({ claimToken, result }))).toEqual(
        answer === 'late' && item.command.verb === 'complete'
          ? [{ claimToken: item.claimToken, result: item.command.result }]
          : [],
      )
      if (answered?.kind === 'settled' && answer !== 'same') {
        expect(answered.record).toMatchObject({
          state: answer,
          version: before.version + 1,
          claimToken: item.claimToken,
        })
        expect(after).toEqual(answered.record)
      } else {
        expect(wordOf(answered)).toBe(answer === 'late' || answer === 'stale' ? 'stale_claim' : answer)
        expect(after).toEqual(before)
        expect(answered).toMatchObject({ record: before })
      }
    })
  })

  const ledger = () => ledgerOn(opened().store, (name) => policies[name as ClassName])

  /** Two attempts, the first of which failed, then the steps. */
  async function arrange(on: ClassName, steps: readonly Step[]) {
    const tokens = [randomUUID(), randomUUID()] as const
    const key = `order:${randomUUID()}`
    const request = (claimToken: string, leaseMs: number) => claimRequest({ class: on, key, claimToken, leaseMs })
    const { digest } = request(tokens[0], 60_000)
    await claim(ledger(), [request(tokens[0], 60_000)])
    await settle(ledger(), everywhere, [{ digest, claimToken: tokens[0], command: failNow }])
    const [second] = await claim(ledger(), [request(tokens[1], steps[0] === 'lease over' ? 1 : 60_000)])
    expect(second).toMatchObject({ outcome: 'claimed', record: { attempt: 2, claimToken: tokens[1] } })
    for (const step of steps) await take(step, digest, tokens[1], request)
    const fresh = randomUUID()
    const tokenOf = (asker: Asker) =>
      ({ 'a fresh token': fresh, 'the first owner': tokens[0], 'the second owner': tokens[1] })[asker]
    return { digest, key, tokens, tokenOf }
  }

  async function take(
    step: Step,
    digest: string,
    claimToken: string,
    request: (token: string, leaseMs: number) => ReturnType<typeof claimRequest>,
  ) {
    const { store, clockPasses } = opened()
    if (typeof step === 'object') {
      const [answered] = await settle(ledger(), everywhere, [{ digest, claimToken, command: step }])
      expect(answered?.kind).toBe('settled')
      return
    }
    switch (step) {
      case 'lease over':
        return clockPasses((await standing(store, digest)).leaseExpiresAt ?? 0)
      case 'sweep': {
        const found = (await store.findExpired(100_000)).find(({ record }) => record.digest === digest)
        const change = found ? noticeExpiry(found.record, found.now) : null
        if (change === null) throw new Error('its lease is over')
        await changed(store, change)
        return
      }
      case 'claimed by another': {
        const [answered] = await claim(ledger(), [request(randomUUID(), 60_000)])
        expect(answered?.outcome).toBe('dead')
        return
      }
      case 'completed':
      case 'retry':
      case 'dead':
      case 'skipped': {
        const command = { decision: step, result: step === 'completed' ? kept : null, endLiveClaim: true }
        const audit = {
          actor: 'key:ops',
          action: 'record.resolve',
          target: digest,
          reason: 'asked',
          before: null,
          after: null,
          requestId: null,
        }
        const answered = await resolve(ledger(), everywhere, digest, command, audit)
        expect(answered.kind).toBe('resolved')
      }
    }
  }
}

function wordOf(answered: SettleAnswer | undefined): string {
  switch (answered?.kind) {
    case 'settled':
      return 'same'
    case 'refused':
      return answered.code
    case 'not_found':
    case undefined:
      return 'not_found'
  }
}
