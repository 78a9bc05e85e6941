import { randomUUID } from 'node:crypto'
import { policySchema } from '@ranbook/contract'
import { settle } from '@ranbook/rules'
import { describe, expect, test } from 'vitest'
import { changed, inserted, standing } from './asked-of-store.ts'
import { changeOf, claimRequest, failing, granting, newRecord } from './new-record.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** What `completeClaimed` promises. */
export function completeClaimed(opened: StoreUnderTest): void {
  const complete = (
    record: { digest: string; claimToken: string },
    result: string | null,
    consumer: string | null = null,
  ) => ({
    digest: record.digest,
    claimToken: record.claimToken,
    consumer,
    result,
  })

  describe('completeClaimed', () => {
    test.each(['retry', 'hold'] as const)(
      'leaves a %s claim exactly as settle would, its lease live or over, met by the sweeper or not',
      async (onLeaseExpiry) => {
        const { store, clockPasses } = opened()
        const policy = policySchema.parse({})
        const live = await inserted(
          store,
          newRecord({ onLeaseExpiry, owner: 'o', fingerprint: { kind: 'given', value: 'v' } }),
        )
        const over = await inserted(store, newRecord({ onLeaseExpiry, leaseMs: 1 }))
        const noticed = await changed(
          store,
          changeOf(await inserted(store, newRecord({ leaseMs: 1 })), { sweepAt: null }),
        )
        const second = await changed(store, granting(await changed(store, failing(await inserted(store, newRecord())))))
        await clockPasses(Math.max(over.leaseExpiresAt ?? 0, noticed.leaseExpiresAt ?? 0))
        for (const record of [live, over, noticed, second]) {
          const [done] = await store.completeClaimed([complete(record, '{"n": 1}', record.consumer)])
          if (!done) throw new Error('the guard holds')
          const settled = settle(record, 'current', { verb: 'complete', result: '{"n": 1}' }, policy, done.now, 0)
          expect(settled).toEqual({ kind: 'write', change: changeOf(record, done.record) })
          expect(await standing(store, record.digest)).toEqual(done.record)
        }
      },
    )

    test('writes nothing for another token, another consumer, another state or no record', async () => {
      const { store } = opened()
      const claimed = await inserted(store, newRecord())
      const displaced = await inserted(store, newRecord())
      const granted = await changed(store, granting(await changed(store, failing(displaced))))
      const failed = await changed(store, failing(await inserted(store, newRecord())))
      const held = await changed(
        store,
        changeOf(await inserted(store, newRecord({ onLeaseExpiry: 'hold' })), { state: 'held', sweepAt: null }),
      )
      const lost = await inserted(store, newRecord())
      const ended = { leaseExpiresAt: null, sweepAt: null, endedAt: lost.claimedAt }
      const dead = await changed(store, changeOf(lost, { ...ended, state: 'dead', cause: 'attempts_lost' }))
      const done = await store.completeClaimed([
        complete({ digest: claimed.digest, claimToken: randomUUID() }, '1'),
        complete({ digest: granted.digest, claimToken: displaced.claimToken }, '1'),
        complete(claimed, '1', 'another-worker'),
        complete(failed, '1'),
        complete(held, '1'),
        complete(dead, '1'),
        complete(claimRequest(), '1'),
      ])
      expect(done).toEqual([null, null, null, null, null, null, null])
      for (const record of [claimed, granted, failed, held, dead]) {
        expect(await standing(store, record.digest)).toEqual(record)
      }
    })

    test('takes a record of any consumer where none is named, and answers each item in order', async () => {
      const { store } = opened()
      const one = await inserted(store, newRecord({ consumer: 'one' }))
      const two = await inserted(store, newRecord({ consumer: 'two' }))
      const done = await store.completeClaimed([complete(two, '2', null), complete(one, '1', 'one')])
      expect(done.map((item) => [item?.record.consumer, item?.record.result])).toEqual([
        ['two', '2'],
        ['one', '1'],
      ])
    })

    test('applies two completes of one identity in one call one after the other: the first stands', async () => {
      const { store } = opened()
      const [one, two] = [await inserted(store, newRecord()), await inserted(store, newRecord())]
      const done = await store.completeClaimed([complete(one, '1'), complete(two, '2'), complete(one, '3')])
      expect(done.map((item) => item?.record.result ?? null)).toEqual(['1', '2', null])
      expect((await standing(store, one.digest)).result).toBe('1')
    })

    test('lets one of many completes of one claim win', async () => {
      const { store } = opened()
      const record = await inserted(store, newRecord())
      const results = Array.from({ length: 24 }, (_, at) => `{"racer":${at}}`)
      const done = await Promise.all(results.map((result) => store.completeClaimed([complete(record, result)])))
      const winners = done.flatMap(([item]) => item ?? [])
      expect(winners).toHaveLength(1)
      expect(await standing(store, record.digest)).toEqual(winners[0]?.record)
    })

    test('is won either by the complete or by the grant that displaces its claim', async () => {
      const { store } = opened()
      for (let round = 0; round < 12; round++) {
        const record = await inserted(store, newRecord())
        const grant = store.compareAndSet([granting(record)])
        const [[done], [granted]] = await Promise.all([store.completeClaimed([complete(record, '1')]), grant])
        expect([done, granted].filter(Boolean)).toHaveLength(1)
        expect(await standing(store, record.digest)).toEqual(done?.record ?? granted?.record)
      }
    })
  })
}
