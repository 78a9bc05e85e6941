import type { AttemptEnd, Change } from '@ranbook/rules'
import { describe, expect, test } from 'vitest'
import { changed, inserted } from './asked-of-store.ts'
import { changeOf, claimRequest, failing, granting, newRecord } from './new-record.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** What `findExpired`, `readHistory`, `addDuplicates` and `keepLateCompletions` promise. */
export function keepingCount(opened: StoreUnderTest): void {
  describe('findExpired', () => {
    test('finds claimed records whose time to be looked at has come, oldest first, and no others', async () => {
      const { store, clockPasses } = opened()
      const claim = (leaseMs: number, onLeaseExpiry: 'retry' | 'hold' = 'retry') =>
        inserted(store, newRecord({ leaseMs, onLeaseExpiry }))
      const later = await claim(12)
      const live = await claim(60_000)
      const hold = await claim(6, 'hold')
      const soon = await claim(1)
      const completed = await claim(1)
      const noticed = await claim(1)
      const failed = await changed(store, failing(await claim(1)))
      const { digest, claimToken } = completed
      await store.completeClaimed([{ digest, claimToken, consumer: null, result: null }])
      await changed(store, changeOf(noticed, { sweepAt: null }))
      await clockPasses(Math.max(...[later, hold, soon, noticed].map(({ leaseExpiresAt }) => leaseExpiresAt ?? 0)))
      const found = await store.findExpired(100_000)
      const own = [later, live, hold, soon, completed, noticed, failed].map((record) => record.digest)
      const expected = [later, hold, soon].toSorted((a, b) => (a.sweepAt ?? 0) - (b.sweepAt ?? 0))
      expect(found.filter(({ record }) => own.includes(record.digest)).map(({ record }) => record)).toEqual(expected)
      const times = found.map(({ record }) => record.sweepAt ?? 0)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(found.every(({ record, now }) => (record.sweepAt ?? 0) <= now)).toBe(true)
      expect((await store.findExpired(2)).map(({ record }) => record)).toEqual(
        found.slice(0, 2).map(({ record }) => record),
      )
    })
  })

  describe('readHistory', () => {
    test('shows displaced attempts as they were archived, oldest first, and none of another record', async () => {
      const { store } = opened()
      const first = await inserted(store, newRecord({ owner: 'first' }))
      const failed = await changed(store, failing(first))
      const one = granting(failed)
      const second = await changed(store, one)
      const two = granting(second)
      await changed(store, { ...two, archive: two.archive && { ...two.archive, end: 'expired' } })
      const beside = await inserted(store, newRecord())
      await changed(store, granting(beside))
      const { attempts } = await store.readHistory(first.digest)
      expect(attempts).toEqual([one.archive, { ...two.archive, end: 'expired' }])
      expect(attempts[0]).toMatchObject({ attempt: 1, claimToken: first.claimToken, owner: 'first', end: 'failed' })
      expect(attempts[0]?.error).toBe('{"message":"no"}')
      expect(attempts[1]).toMatchObject({ attempt: 2, leaseExpiresAt: second.leaseExpiresAt, endedAt: null })
    })

    test.each(['completed', 'failed', 'expired', 'released', 'decided'] as const)(
      'keeps that an attempt %s',
      async (end) => {
        const { store } = opened()
        const change = granting(await inserted(store, newRecord()))
        await changed(store, { ...change, archive: change.archive && { ...change.archive, end } })
        const { attempts } = await store.readHistory(change.record.digest)
        expect(attempts.map((attempt) => attempt.end)).toEqual([end])
      },
    )

    test('shows the newest 1000 attempts that were given back, and every other one', async () => {
      const { store } = opened()
      const first = await inserted(store, newRecord())
      const ends: AttemptEnd[] = [
        'released',
        'expired',
        'released',
        ...Array.from({ length: 1000 }, () => 'released' as const),
      ]
      const changes: Change[] = []
      let standing = first
      for (const [at, end] of ends.entries()) {
        const change = granting(standing)
        // The archive's own numbers are what the store keeps: they only have to ascend.
        const archive = change.archive && { ...change.archive, fencingToken: first.fencingToken + at, end }
        changes.push({ ...change, archive })
        standing = change.record
      }
      expect(await store.compareAndSet(changes)).not.toContain(null)
      const { attempts } = await store.readHistory(first.digest)
      expect(attempts).toEqual([changes[1]?.archive, ...changes.slice(3).map(({ archive }) => archive)])
    })

    test('is empty where nothing stands', async () => {
      expect(await opened().store.readHistory(claimRequest().digest)).toEqual({ attempts: [], lateCompletions: [] })
    })
  })

  describe('addDuplicates', () => {
    const talliesOf = async (...digests: string[]) =>
      (await opened().store.readFull(digests)).rows.map((row) => row?.duplicates ?? null)

    test('adds counts, and keeps the first and the last time', async () => {
      const { store } = opened()
      const [one, two] = [await inserted(store, newRecord()), await inserted(store, newRecord())]
      const tally = (record: { digest: string }, count: number, firstAt: number, lastAt: number) => ({
        digest: record.digest,
        count,
        firstAt,
        lastAt,
      })
      await store.addDuplicates([tally(one, 2, 1000, 2000), tally(two, 1, 5000, 5000)])
      await store.addDuplicates([tally(one, 3, 1500, 1700)])
      await store.addDuplicates([tally(one, 1, 500, 2500)])
      await store.addDuplicates([])
      expect(await talliesOf(one.digest, two.digest)).toEqual([
        { count: 6, firstAt: 500, lastAt: 2500 },
        { count: 1, firstAt: 5000, lastAt: 5000 },
      ])
    })

    test('adds both of two tallies of one record in one call', async () => {
      const { store } = opened()
      const { digest } = await inserted(store, newRecord())
      await store.addDuplicates([
        { digest, count: 2, firstAt: 10, lastAt: 20 },
        { digest, count: 3, firstAt: 5, lastAt: 15 },
      ])
      expect(await talliesOf(digest)).toEqual([{ count: 5, firstAt: 5, lastAt: 20 }])
    })

    test('loses none of many that come at once', async () => {
      const { store } = opened()
      const records = (await store.insertIfAbsent([newRecord(), newRecord(), newRecord()])).map(({ record }) => record)
      const tally = records.map(({ digest }) => ({ digest, count: 1, firstAt: 10, lastAt: 20 }))
      await Promise.all(Array.from({ length: 30 }, (_, at) => store.addDuplicates(at % 2 ? tally : tally.toReversed())))
      expect(await talliesOf(...records.map(({ digest }) => digest))).toEqual(
        records.map(() => ({ count: 30, firstAt: 10, lastAt: 20 })),
      )
    })

    test('passes over a record that does not stand, and changes no version', async () => {
      const { store } = opened()
      const record = await inserted(store, newRecord())
      const absent = claimRequest().digest
      await store.addDuplicates([absent, record.digest].map((digest) => ({ digest, count: 1, firstAt: 1, lastAt: 1 })))
      expect(await talliesOf(absent, record.digest)).toEqual([null, { count: 1, firstAt: 1, lastAt: 1 }])
      const [found] = await store.read([{ digest: record.digest, claimToken: null }])
      expect(found?.record).toEqual(record)
    })
  })

  describe('keepLateCompletions', () => {
    test('keeps the first late result of each token, oldest first, by the store’s clock', async () => {
      const { store, clockPasses } = opened()
      const first = await inserted(store, newRecord())
      const second = await changed(store, granting(first))
      const { digest } = first
      const keep = (claimToken: string, result: string | null) =>
        store.keepLateCompletions([{ digest, claimToken, result }])
      await keep(second.claimToken, null)
      const [kept] = (await store.readHistory(digest)).lateCompletions
      await clockPasses(kept?.at ?? 0)
      await keep(first.claimToken, '{"n": 1}')
      await keep(first.claimToken, '{"n": 2}')
      await keep(second.claimToken, 'null')
      const { lateCompletions } = await store.readHistory(digest)
      expect(lateCompletions).toEqual([
        { digest, claimToken: second.claimToken, result: null, at: kept?.at },
        { digest, claimToken: first.claimToken, result: '{"n": 1}', at: lateCompletions[1]?.at },
      ])
      expect(lateCompletions[1]?.at).toBeGreaterThan(kept?.at ?? 0)
      expect(kept?.at).toBeGreaterThanOrEqual(first.claimedAt)
    })

    test('keeps all of one call, of each token the first, and passes over a record that does not stand', async () => {
      const { store } = opened()
      const [one, two] = [await inserted(store, newRecord()), await inserted(store, newRecord())]
      const late = ({ digest, claimToken }: typeof one, result: string | null) => ({ digest, claimToken, result })
      const absent = { digest: claimRequest().digest, claimToken: one.claimToken, result: null }
      await store.keepLateCompletions([])
      await store.keepLateCompletions([late(two, '2'), absent, late(one, null), late(one, '1'), late(two, null)])
      const kept = async (digest: string) =>
        (await store.readHistory(digest)).lateCompletions.map(({ claimToken, result }) => ({ claimToken, result }))
      expect(await kept(one.digest)).toEqual([{ claimToken: one.claimToken, result: null }])
      expect(await kept(two.digest)).toEqual([{ claimToken: two.claimToken, result: '2' }])
      expect(await kept(absent.digest)).toEqual([])
    })

    test('keeps one of many late results of a token that come at once', async () => {
      const { store } = opened()
      const { digest, claimToken } = await inserted(store, newRecord())
      const results = Array.from({ length: 20 }, (_, at) => `${at}`)
      await Promise.all(results.map((result) => store.keepLateCompletions([{ digest, claimToken, result }])))
      const { lateCompletions } = await store.readHistory(digest)
      expect(lateCompletions).toHaveLength(1)
      expect(results).toContain(lateCompletions[0]?.result)
    })
  })
}
