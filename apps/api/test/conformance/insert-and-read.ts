import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { changed, inserted, standing } from './asked-of-store.ts'
import { claimRequest, failing, granting, newRecord } from './new-record.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** What `insertIfAbsent` and `read` promise. */
export function insertAndRead(opened: StoreUnderTest): void {
  describe('insertIfAbsent', () => {
    test('grants a record that nobody had, whole, by the store’s clock', async () => {
      const { store } = opened()
      const fingerprint = { kind: 'given', value: 'v1' } as const
      const record = newRecord({ owner: 'billing-1', leaseMs: 1500, onLeaseExpiry: 'hold', fingerprint })
      const [outcome] = await store.insertIfAbsent([record])
      if (!outcome) throw new Error('every item is answered')
      const { request } = record
      const { now } = outcome
      expect(outcome).toEqual({
        inserted: true,
        tokenSpent: false,
        now,
        record: {
          digest: request.digest,
          version: 1,
          class: request.class,
          consumer: request.consumer,
          key: request.key,
          state: 'claimed',
          cause: null,
          generation: 1,
          attempt: 1,
          claimToken: request.claimToken,
          fencingToken: outcome.record.fencingToken,
          owner: 'billing-1',
          leaseMs: 1500,
          onLeaseExpiry: 'hold',
          leaseExpiresAt: now + 1500,
          sweepAt: now + 1500,
          firstClaimedAt: now,
          claimedAt: now,
          endedAt: null,
          availableAt: null,
          fingerprint,
          result: null,
          error: null,
          detailsErasedAt: null,
          replay: null,
          window: record.window,
        },
      })
      expect(Number.isSafeInteger(now)).toBe(true)
      expect(Number.isSafeInteger(outcome.record.fencingToken) && outcome.record.fencingToken > 0).toBe(true)
      expect(await standing(store, request.digest)).toEqual(outcome.record)
    })

    test('gives each item its own answer, in order', async () => {
      const { store } = opened()
      const known = await inserted(store, newRecord())
      const fresh = Array.from({ length: 20 }, () => newRecord())
      const again = newRecord({ key: known.key })
      const outcomes = await store.insertIfAbsent([...fresh.slice(0, 10), again, ...fresh.slice(10)])
      const keys = [...fresh.slice(0, 10), again, ...fresh.slice(10)].map(({ request }) => request.key)
      expect(outcomes.map(({ record }) => record.key)).toEqual(keys)
      expect(outcomes.filter((outcome) => !outcome.inserted)).toEqual([
        { inserted: false, record: known, tokenSpent: false, now: outcomes[10]?.now },
      ])
    })

    test('lets one of two items of one identity in one call insert, the other reads it', async () => {
      const { store } = opened()
      const first = newRecord()
      const outcomes = await store.insertIfAbsent([first, newRecord(), newRecord({ key: first.request.key }), first])
      expect(outcomes.map((outcome) => outcome.inserted).filter(Boolean)).toHaveLength(2)
      expect(outcomes[2]?.record).toEqual(outcomes[0]?.record)
      expect(outcomes[3]?.record).toEqual(outcomes[0]?.record)
      expect(await standing(store, first.request.digest)).toEqual(outcomes[0]?.record)
    })

    test('lets one of many callers insert, and shows everyone else the record that won', async () => {
      const { store } = opened()
      for (let round = 0; round < 5; round++) {
        const { request } = newRecord()
        const calls = Array.from({ length: 40 }, () =>
          store.insertIfAbsent([newRecord({ key: `beside:${randomUUID()}` }), newRecord({ key: request.key })]),
        )
        const outcomes = (await Promise.all(calls)).map(([, outcome]) => outcome)
        const winner = outcomes.filter((outcome) => outcome?.inserted)
        expect(winner).toHaveLength(1)
        for (const outcome of outcomes) expect(outcome?.record).toEqual(winner[0]?.record)
      }
    })

    test('answers many callers that insert the same identities in different orders', async () => {
      const { store } = opened()
      const keys = Array.from({ length: 30 }, () => `order:${randomUUID()}`)
      const orders = [keys, keys.toReversed(), [...keys.slice(11), ...keys.slice(0, 11)]]
      const calls = Array.from({ length: 12 }, (_, at) =>
        store.insertIfAbsent((orders[at % orders.length] ?? keys).map((key) => newRecord({ key }))),
      )
      const outcomes = (await Promise.all(calls)).flat()
      for (const key of keys) {
        expect(outcomes.filter((outcome) => outcome.record.key === key && outcome.inserted)).toHaveLength(1)
      }
    })

    test('says of a token whether it had a displaced attempt', async () => {
      const { store } = opened()
      const first = await inserted(store, newRecord())
      const second = await changed(store, granting(await changed(store, failing(first))))
      const asked = [first.claimToken, second.claimToken, randomUUID()]
      const outcomes = await Promise.all(
        asked.map((claimToken) => store.insertIfAbsent([newRecord({ key: first.key, claimToken })])),
      )
      expect(outcomes.map(([outcome]) => outcome?.tokenSpent)).toEqual([true, false, false])
      for (const [outcome] of outcomes) expect(outcome?.record).toEqual(second)
    })

    test('answers nothing to nothing', async () => {
      expect(await opened().store.insertIfAbsent([])).toEqual([])
    })
  })

  describe('read', () => {
    test('answers null where nothing stands, and each item in order, the same one twice too', async () => {
      const { store } = opened()
      const [one, two] = [await inserted(store, newRecord()), await inserted(store, newRecord())]
      const absent = claimRequest().digest
      const asked = [two.digest, absent, one.digest, two.digest].map((digest) => ({ digest, claimToken: null }))
      const found = await store.read(asked)
      expect(found.map((outcome) => outcome?.record ?? null)).toEqual([two, null, one, two])
      expect(await store.read([])).toEqual([])
    })

    test('says of each token whether it had a displaced attempt of that record', async () => {
      const { store } = opened()
      const first = await inserted(store, newRecord())
      const second = await changed(store, granting(await changed(store, failing(first))))
      const third = await changed(store, granting(await changed(store, failing(second))))
      const other = await inserted(store, newRecord())
      const tokens = [first.claimToken, second.claimToken, third.claimToken, randomUUID(), null]
      const asked = tokens.map((claimToken) => ({ digest: first.digest, claimToken }))
      const found = await store.read([...asked, { digest: other.digest, claimToken: first.claimToken }])
      expect(found.map((outcome) => outcome?.tokenSpent)).toEqual([true, true, false, false, false, false])
      expect(found[0]?.record).toEqual(third)
    })

    test('reads the clock in whole ms, and never an earlier one than a record’s', async () => {
      const { store } = opened()
      const record = await inserted(store, newRecord())
      const [found] = await store.read([{ digest: record.digest, claimToken: null }])
      expect(Number.isSafeInteger(found?.now)).toBe(true)
      expect(found?.now).toBeGreaterThanOrEqual(record.claimedAt)
    })
  })
}
