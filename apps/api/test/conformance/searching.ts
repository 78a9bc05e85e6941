import { randomUUID } from 'node:crypto'
import { type LedgerRecord, type RecordFilter, unfiltered } from '@ranbook/rules'
import { describe, expect, test } from 'vitest'
import { changed, inserted } from './asked-of-store.ts'
import { changeOf, claimRequest, failing, newRecord, noDetails } from './new-record.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const everything: RecordFilter = {
  ...unfiltered,
  limit: 200,
}

type Shown = Omit<LedgerRecord, 'result'>

function shown({ result: _, ...record }: LedgerRecord): Shown {
  return record
}

/** What `search` and `readFull` promise. */
export function searching(opened: StoreUnderTest): void {
  const find = async (filter: Partial<RecordFilter>): Promise<Shown[]> =>
    (await opened().store.search({ ...everything, ...filter })).rows.map(({ record }) => record)
  const keysOf = (records: readonly Shown[]): string[] => records.map(({ key }) => key).toSorted()

  describe('search', () => {
    test('shows each row with its details and its duplicates, without payload and result', async () => {
      const { store } = opened()
      const consumer = randomUUID()
      const details = { payload: '{"a": 1}', refs: ['order:88', 'cust'], source: 'billing', seq: '41', occurredAt: 1 }
      const record = await inserted(store, newRecord({ consumer, details, owner: 'o' }))
      await store.addDuplicates([{ digest: record.digest, count: 3, firstAt: 10, lastAt: 20 }])
      const { rows, now } = await store.search({ ...everything, consumer })
      const { payload: _, ...listed } = details
      const duplicates = { count: 3, firstAt: 10, lastAt: 20 }
      expect(rows).toEqual([{ record: shown(record), hasResult: false, hasPayload: true, details: listed, duplicates }])
      expect(now).toBeGreaterThanOrEqual(record.firstClaimedAt)
      const { digest, claimToken } = record
      await store.completeClaimed([{ digest, claimToken, consumer: null, result: 'null' }])
      expect((await store.search({ ...everything, consumer })).rows).toMatchObject([{ hasResult: true }])

      const bare = randomUUID()
      await inserted(store, newRecord({ consumer: bare, details: { ...details, payload: null } }))
      expect((await store.search({ ...everything, consumer: bare })).rows).toMatchObject([{ hasPayload: false }])
    })

    test('answers newest first, at most as many as asked for', async () => {
      const { store, clockPasses } = opened()
      const consumer = randomUUID()
      const records: LedgerRecord[] = []
      for (let at = 0; at < 4; at++) {
        const record = await inserted(store, newRecord({ consumer }))
        records.unshift(record)
        await clockPasses(record.firstClaimedAt)
      }
      expect(await find({ consumer })).toEqual(records.map(shown))
      expect(await find({ consumer, limit: 3 })).toEqual(records.slice(0, 3).map(shown))
    })

    test('holds every filter that is given, and all of them together', async () => {
      const { store } = opened()
      const consumer = randomUUID()
      const details = { ...noDetails, refs: ['order:88', 'cust'], source: 'billing', seq: '41' }
      const rows = [
        { key: 'a/1', class: 'refund.issued', details },
        { key: 'a/2', class: 'refund.issued', details: { ...details, seq: '42', refs: ['order:89'] } },
        { key: 'b/1', class: 'refund.failed', details: { ...details, source: 'shop' } },
        { key: 'b', class: 'refund.failed' },
        { key: 'a', class: 'refund' },
      ]
      await store.insertIfAbsent(rows.map((row) => newRecord({ consumer, ...row })))
      await inserted(store, newRecord({ consumer: randomUUID(), ...rows[0] }))
      const found = async (filter: Partial<RecordFilter>) => keysOf(await find({ consumer, ...filter }))
      expect(await found({})).toEqual(['a', 'a/1', 'a/2', 'b', 'b/1'])
      expect(await found({ class: 'refund.issued' })).toEqual(['a/1', 'a/2'])
      expect(await found({ keyPrefix: 'a/' })).toEqual(['a/1', 'a/2'])
      expect(await found({ keyPrefix: 'a' })).toEqual(['a', 'a/1', 'a/2'])
      expect(await found({ ref: 'order:88' })).toEqual(['a/1', 'b/1'])
      expect(await found({ ref: 'order' })).toEqual([])
      expect(await found({ source: 'billing' })).toEqual(['a/1', 'a/2'])
      expect(await found({ source: 'billing', seq: '42' })).toEqual(['a/2'])
      expect(await found({ seq: '41' })).toEqual(['a/1', 'b/1'])
      expect(await found({ class: 'refund.failed', ref: 'order:88', source: 'shop', keyPrefix: 'b' })).toEqual(['b/1'])
      expect(await found({ class: 'refund.*' })).toEqual([])
    })

    test('limited to digests shows those of them that stand and hold the other filters', async () => {
      const { store } = opened()
      const [one, two] = [await inserted(store, newRecord({ class: 'refund.a' })), await inserted(store, newRecord())]
      await inserted(store, newRecord())
      const digests = [one.digest, claimRequest().digest, two.digest]
      expect(keysOf(await find({ digests }))).toEqual(keysOf([one, two]))
      expect(keysOf(await find({ digests, class: 'refund.a' }))).toEqual([one.key])
      expect(await find({ digests: [] })).toEqual([])
    })

    test.each([
      ['%', ['%', '%a']],
      ['_', ['_', '_a']],
      ['\\', ['\\', '\\a']],
      ["'", ["'"]],
      ['É', ['É']],
      ['😀', ['😀!']],
    ])('takes the key prefix %s by its bytes', async (keyPrefix, keys) => {
      const { store } = opened()
      const consumer = randomUUID()
      const all = ['%', '%a', '_', '_a', '\\', '\\a', "'", 'a', 'ab', 'É', 'é', '😀!', '😁']
      await store.insertIfAbsent(all.map((key) => newRecord({ consumer, key })))
      expect(keysOf(await find({ consumer, keyPrefix }))).toEqual(keys)
    })

    test('takes from as inclusive and to as exclusive', async () => {
      const { store, clockPasses } = opened()
      const consumer = randomUUID()
      const [one, two] = [await inserted(store, newRecord({ consumer })), await laterThanThat()]
      async function laterThanThat() {
        const first = (await find({ consumer }))[0]
        await clockPasses(first?.firstClaimedAt ?? 0)
        return inserted(store, newRecord({ consumer }))
      }
      expect(await find({ consumer, from: one.firstClaimedAt, to: two.firstClaimedAt })).toEqual([shown(one)])
      expect(await find({ consumer, from: one.firstClaimedAt + 1 })).toEqual([shown(two)])
      expect(await find({ consumer, from: one.firstClaimedAt, to: two.firstClaimedAt + 1 })).toEqual(
        [two, one].map(shown),
      )
      expect(await find({ consumer, to: one.firstClaimedAt })).toEqual([])
    })

    test('shows a hold claim whose lease is over as held, before and after the sweeper, and a retry claim as claimed', async () => {
      const { store, clockPasses } = opened()
      const consumer = randomUUID()
      const claim = (key: string, onLeaseExpiry: 'hold' | 'retry', leaseMs: number) =>
        inserted(store, newRecord({ consumer, key, onLeaseExpiry, leaseMs }))
      await claim('live hold', 'hold', 60_000)
      await claim('live retry', 'retry', 60_000)
      await claim('over hold', 'hold', 1)
      await claim('over retry', 'retry', 1)
      const swept = await claim('swept hold', 'hold', 1)
      await clockPasses(swept.leaseExpiresAt ?? 0)
      await changed(store, changeOf(swept, { state: 'held', sweepAt: null }))
      expect(keysOf(await find({ consumer, state: 'held' }))).toEqual(['over hold', 'swept hold'])
      expect(keysOf(await find({ consumer, state: 'claimed' }))).toEqual(['live hold', 'live retry', 'over retry'])
    })

    test.each(['completed', 'failed', 'dead', 'skipped', 'ready'] as const)(
      'finds the records that are %s, and no others',
      async (state) => {
        const { store } = opened()
        const consumer = randomUUID()
        for (const [wanted, fields] of [
          ['completed', { cause: null }],
          ['failed', { cause: null }],
          ['dead', { cause: 'operator' }],
          ['skipped', { cause: 'operator' }],
          ['ready', { cause: 'released' }],
        ] as const) {
          const record = await inserted(store, newRecord({ consumer, key: wanted }))
          const availableAt = wanted === 'failed' ? record.claimedAt : null
          await changed(
            store,
            changeOf(record, { ...failing(record).record, ...fields, state: wanted, availableAt, version: 2 }),
          )
        }
        await inserted(store, newRecord({ consumer, key: 'claimed' }))
        expect(keysOf(await find({ consumer, state }))).toEqual([state])
      },
    )

    test.each([
      [[{ classes: ['*'], consumer: null }], ['one: pay', 'one: refund.a', 'one: refund.b', 'two: refund.a']],
      [[{ classes: ['refund.*'], consumer: null }], ['one: refund.a', 'one: refund.b', 'two: refund.a']],
      [[{ classes: ['refund.a', 'pay'], consumer: 'one' }], ['one: pay', 'one: refund.a']],
      [[{ classes: ['refund.*'], consumer: 'two' }], ['two: refund.a']],
      [
        [
          { classes: ['pay'], consumer: null },
          { classes: ['*'], consumer: 'two' },
        ],
        ['one: pay', 'two: refund.a'],
      ],
      [[{ classes: ['refund.a*', 'refund_*', 'refund%'], consumer: null }], []],
      [[{ classes: [], consumer: null }], []],
      [[], []],
    ])('shows to the scope %j what it covers', async (scope, keys) => {
      const { store } = opened()
      const suffix = randomUUID()
      const rows = ['one: refund.a', 'one: refund.b', 'one: pay', 'two: refund.a'].map((key) => {
        const [consumer = '', className = ''] = key.split(': ')
        return newRecord({ consumer: consumer + suffix, class: className, key: `${suffix} ${key}` })
      })
      await store.insertIfAbsent(rows)
      const own = scope.map(({ classes, consumer }) => ({ classes, consumer: consumer && consumer + suffix }))
      const found = await find({ scope: own, keyPrefix: suffix })
      expect(keysOf(found)).toEqual(keys.map((key) => `${suffix} ${key}`))
    })

    test('pages neither repeat nor skip a row that was there throughout, while others are inserted', async () => {
      const { store } = opened()
      const consumer = randomUUID()
      // Most in one call, so that many share one time and only the digest orders them.
      const batches = [40, 1, 1, 30, 1].map((count) => Array.from({ length: count }, () => newRecord({ consumer })))
      const there: string[] = []
      for (const batch of batches) {
        for (const { record } of await store.insertIfAbsent(batch)) there.push(record.key)
      }
      const seen: Shown[] = []
      let after: RecordFilter['after'] = null
      do {
        const page = find({ consumer, limit: 7, after })
        const [rows] = await Promise.all([
          page,
          store.insertIfAbsent([newRecord({ consumer }), newRecord({ consumer })]),
        ])
        seen.push(...rows)
        const last = rows.at(-1)
        after = last ? { firstClaimedAt: last.firstClaimedAt, digest: last.digest } : null
      } while (after !== null)
      const keys = seen.map(({ key }) => key)
      expect(new Set(keys).size).toBe(keys.length)
      expect(there.filter((key) => !keys.includes(key))).toEqual([])
      const order = seen.map(({ firstClaimedAt, digest }) => `${firstClaimedAt} ${digest}`)
      expect(order).toEqual(order.toSorted().toReversed())
    })
  })

  describe('readFull', () => {
    test('answers each digest in order, null where nothing stands', async () => {
      const { store } = opened()
      const [one, two] = [await inserted(store, newRecord()), await inserted(store, newRecord())]
      const { rows, now } = await store.readFull([two.digest, claimRequest().digest, one.digest])
      expect(rows.map((row) => row?.record ?? null)).toEqual([two, null, one])
      expect(rows[0]).toEqual({ record: two, details: noDetails, duplicates: null })
      expect(now).toBeGreaterThanOrEqual(two.claimedAt)
    })
  })
}
