import { randomUUID } from 'node:crypto'
import { policySchema } from '@ranbook/contract'
import { describe, expect, test } from 'vitest'
import { claim, settle } from './answered-verbs.ts'
import { changed, inserted, standing } from './asked-of-store.ts'
import { ledgerOn } from './ledger-on.ts'
import { claimRequest, failing, newRecord } from './new-record.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const everywhere = { classes: ['*'], consumer: null }
const policy = policySchema.parse({ max_attempts: null })

/** The verbs on a store, many at once. */
export function racingClaims(opened: StoreUnderTest): void {
  const ledger = () => ledgerOn(opened().store, () => policy)
  const claimOnce = async (fields: Parameters<typeof claimRequest>[0]) => {
    const [answer] = await claim(ledger(), [claimRequest(fields)])
    return answer
  }
  const outcomesOf = (answers: readonly ({ outcome: string } | undefined)[]) => answers.map((answer) => answer?.outcome)

  describe('claims that race', () => {
    test.each(['a key nobody had', 'a failed record', 'a given back record', 'a retry claim whose lease is over'])(
      'get one claimed on %s, and in_progress for everyone else',
      async (situation) => {
        const { store, clockPasses } = opened()
        const key = `order:${randomUUID()}`
        if (situation !== 'a key nobody had') {
          const lost = situation === 'a retry claim whose lease is over'
          const record = await inserted(store, newRecord({ key, leaseMs: lost ? 1 : 60_000 }))
          if (situation === 'a failed record') await changed(store, failing(record))
          else if (lost) await clockPasses(record.leaseExpiresAt ?? 0)
          else await settle(ledger(), everywhere, [{ ...record, command: { verb: 'release' } }])
        }
        const answers = await Promise.all(Array.from({ length: 64 }, () => claimOnce({ key })))
        const outcomes = outcomesOf(answers).toSorted()
        expect(outcomes).toEqual(['claimed', ...Array.from({ length: 63 }, () => 'in_progress')])
        const winner = answers.find((answer) => answer?.outcome === 'claimed')
        for (const answer of answers) expect(answer?.record).toEqual(winner?.record)
      },
    )

    test('with one token are all the same claim', async () => {
      const fields = { key: `order:${randomUUID()}`, claimToken: randomUUID() }
      const answers = await Promise.all(Array.from({ length: 32 }, () => claimOnce(fields)))
      expect(new Set(outcomesOf(answers))).toEqual(new Set(['claimed']))
      for (const answer of answers) expect(answer?.record).toEqual(answers[0]?.record)
    })

    test('within one batch get one claimed, the same again for its token, and mismatch for another payload', async () => {
      const key = `order:${randomUUID()}`
      const fingerprint = { kind: 'given', value: 'a' } as const
      const first = claimRequest({ key, fingerprint })
      const answers = await claim(ledger(), [
        first,
        claimRequest({ key, fingerprint }),
        claimRequest(),
        first,
        claimRequest({ key, fingerprint: { kind: 'given', value: 'b' } }),
      ])
      expect(outcomesOf(answers)).toEqual(['claimed', 'in_progress', 'claimed', 'claimed', 'mismatch'])
    })

    test('within one batch on a record that is due get one claimed', async () => {
      const { store } = opened()
      const record = await changed(store, failing(await inserted(store, newRecord())))
      const answers = await claim(
        ledger(),
        Array.from({ length: 20 }, () => claimRequest({ key: record.key })),
      )
      expect(outcomesOf(answers).toSorted()).toEqual(['claimed', ...Array.from({ length: 19 }, () => 'in_progress')])
      expect((await standing(store, record.digest)).attempt).toBe(2)
    })

    test('against the owner’s last word end as if one had come first', async () => {
      const { store, clockPasses } = opened()
      for (let round = 0; round < 10; round++) {
        const record = await inserted(store, newRecord({ leaseMs: 1 }))
        await clockPasses(record.leaseExpiresAt ?? 0)
        const command = { verb: 'complete', result: '1' } as const
        const [answer, [word]] = await Promise.all([
          claimOnce({ key: record.key }),
          settle(ledger(), everywhere, [{ ...record, command }]),
        ])
        const after = await standing(store, record.digest)
        if (word?.kind === 'settled') {
          expect(answer?.outcome).toBe('duplicate')
          expect(after).toEqual(word.record)
        } else {
          expect(word).toMatchObject({ kind: 'refused', code: 'stale_claim' })
          expect(answer?.outcome).toBe('claimed')
          const { lateCompletions } = await store.readHistory(record.digest)
          expect(lateCompletions.map(({ result }) => result)).toEqual(['1'])
        }
      }
    })
  })

  describe('settles of one record in one batch', () => {
    test('are applied in the order given', async () => {
      const { store } = opened()
      const record = await inserted(store, newRecord())
      const say = (command: Parameters<typeof settle>[2][number]['command'], claimToken = record.claimToken) => ({
        digest: record.digest,
        claimToken,
        command,
      })
      const answers = await settle(ledger(), everywhere, [
        say({ verb: 'extend', leaseMs: 90_000 }),
        say({ verb: 'complete', result: '1' }),
        say({ verb: 'complete', result: '1.0' }),
        say({ verb: 'complete', result: '2' }),
        say({ verb: 'release' }),
        say({ verb: 'complete', result: '1' }, randomUUID()),
      ])
      expect(answers.map((answer) => (answer.kind === 'refused' ? answer.code : answer.kind))).toEqual([
        ...['settled', 'settled', 'settled', 'result_conflict', 'already_settled', 'stale_claim'],
      ])
      expect((await standing(store, record.digest)).result).toBe('1')
    })

    test('are not found outside the caller’s consumer and classes, and change nothing', async () => {
      const { store } = opened()
      const record = await inserted(store, newRecord({ class: 'refund.issued', consumer: 'billing-worker' }))
      const item = {
        digest: record.digest,
        claimToken: record.claimToken,
        command: { verb: 'complete', result: null } as const,
      }
      for (const scope of [
        { classes: ['*'], consumer: 'other' },
        { classes: ['payout.*'], consumer: null },
        { classes: [], consumer: 'billing-worker' },
      ]) {
        expect(await settle(ledger(), scope, [item])).toEqual([{ kind: 'not_found' }])
      }
      expect(await standing(store, record.digest)).toEqual(record)
      const [answer] = await settle(ledger(), { classes: ['refund.*'], consumer: 'billing-worker' }, [item])
      expect(answer?.kind).toBe('settled')
    })
  })
}
