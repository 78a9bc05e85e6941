import { describe, expect, test } from 'vitest'
import { changed, inserted, standing } from './asked-of-store.ts'
import { changeOf, claimRequest, failing, granting, newRecord, noDetails } from './new-record.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** What `compareAndSet` promises. */
export function compareAndSet(opened: StoreUnderTest): void {
  describe('compareAndSet', () => {
    test('writes every field of the record over the version that was read', async () => {
      const { store } = opened()
      const first = await inserted(store, newRecord({ onLeaseExpiry: 'hold' }))
      const fingerprint = { kind: 'computed', value: `sha256:${'0a'.repeat(32)}` } as const
      const fields = {
        owner: 'o',
        leaseMs: 2500,
        onLeaseExpiry: 'retry',
        fingerprint,
        error: '{"message":"x"}',
      } as const
      const times = { claimedAt: 1_000_000_000_001, leaseExpiresAt: null, sweepAt: null, endedAt: 1_000_000_000_002 }
      const failed = { ...fields, ...times, state: 'failed', availableAt: 1_000_000_000_003, attempt: 3 } as const
      const change = changeOf(first, failed)
      const written = await changed(store, change)
      expect(written).toEqual(change.record)
      expect(await standing(store, first.digest)).toEqual(written)
    })

    test.each([
      { state: 'dead', cause: 'attempts_failed' },
      { state: 'dead', cause: 'attempts_lost' },
      { state: 'dead', cause: 'not_retryable' },
      { state: 'dead', cause: 'operator' },
      { state: 'ready', cause: 'released' },
      { state: 'ready', cause: 'retry' },
      { state: 'skipped', cause: 'operator' },
      { state: 'completed', cause: 'operator' },
      { state: 'completed', cause: null },
    ] as const)('keeps $state by $cause', async (fields) => {
      const { store } = opened()
      const first = await inserted(store, newRecord())
      const ended = { leaseExpiresAt: null, sweepAt: null, endedAt: first.claimedAt }
      const written = await changed(store, changeOf(first, { ...fields, ...ended }))
      expect(written).toMatchObject(fields)
      expect(await standing(store, first.digest)).toEqual(written)
    })

    test('changes nothing where another version stands, or nothing at all', async () => {
      const { store, audit } = opened()
      const first = await inserted(store, newRecord())
      const second = await changed(store, failing(first))
      const target = `rec_${first.digest}`
      const more = { audit: auditOf(target), fill: { ...noDetails, payload: '1' } }
      const absent = { ...first, digest: claimRequest().digest }
      const future = { ...granting(second, more), expectVersion: 3 }
      expect(await store.compareAndSet([granting(first, more), future, failing(absent)])).toEqual([null, null, null])
      expect(await standing(store, first.digest)).toEqual(second)
      expect(await store.readHistory(first.digest)).toEqual({ attempts: [], lateCompletions: [] })
      expect((await store.readFull([first.digest])).rows[0]?.details).toEqual(noDetails)
      expect(await audit.linesAbout(target, '', 10)).toEqual([])
    })

    test('lets one of many changes of a version win, with its archive, its details and its audit, and no other’s', async () => {
      const { store, audit } = opened()
      const failed = await changed(store, failing(await inserted(store, newRecord())))
      const target = `rec_${failed.digest}`
      const changes = Array.from({ length: 24 }, (_, at) =>
        granting(failed, {
          audit: { ...auditOf(target), reason: `racer ${at}` },
          fill: { ...noDetails, payload: `{"racer":${at}}` },
        }),
      )
      const written = await Promise.all(changes.map((change) => store.compareAndSet([change])))
      const winners = written.flatMap(([outcome], at) => (outcome ? [{ record: outcome.record, at }] : []))
      expect(winners).toHaveLength(1)
      const [winner] = winners
      expect(await standing(store, failed.digest)).toEqual(winner?.record)
      expect((await store.readHistory(failed.digest)).attempts).toEqual([changes[0]?.archive])
      expect((await store.readFull([failed.digest])).rows[0]?.details.payload).toBe(`{"racer":${winner?.at}}`)
      const lines = await audit.linesAbout(target, '', 10)
      expect(lines.map(({ reason }) => reason)).toEqual([`racer ${winner?.at}`])
    })

    test('writes the audit line that a change carries, whole', async () => {
      const { store, audit } = opened()
      const first = await inserted(store, newRecord())
      const entry = auditOf(`rec_${first.digest}`)
      await changed(store, failing(first, { audit: entry }))
      const lines = await audit.linesAbout(entry.target, 'record.', 10)
      expect(lines).toEqual([{ ...entry, id: lines[0]?.id, at: lines[0]?.at }])
      expect(lines[0]?.at).toBeGreaterThanOrEqual(first.claimedAt)
    })

    test('applies two changes of one identity in one call one after the other', async () => {
      const { store } = opened()
      const first = await inserted(store, newRecord())
      const beside = await inserted(store, newRecord())
      const failed = failing(first)
      const granted = granting(failed.record)
      const rival = granting(failed.record)
      const outcomes = await store.compareAndSet([failed, failing(beside), granted, rival])
      expect(outcomes.map((outcome) => outcome?.record.claimToken ?? null)).toEqual([
        first.claimToken,
        beside.claimToken,
        granted.record.claimToken,
        null,
      ])
      expect(await standing(store, first.digest)).toEqual(outcomes[2]?.record)
      expect((await store.readHistory(first.digest)).attempts).toEqual([granted.archive])
    })

    test('answers many callers that change the same records in different orders', async () => {
      const { store } = opened()
      const records = (await store.insertIfAbsent(Array.from({ length: 30 }, () => newRecord()))).map(
        ({ record }) => record,
      )
      const orders = [records, records.toReversed(), [...records.slice(11), ...records.slice(0, 11)]]
      const calls = Array.from({ length: 12 }, (_, at) =>
        store.compareAndSet((orders[at % orders.length] ?? records).map((record) => failing(record))),
      )
      const written = (await Promise.all(calls)).flat().flatMap((outcome) => outcome?.record.digest ?? [])
      expect(written.toSorted()).toEqual(records.map(({ digest }) => digest).toSorted())
    })

    test('draws a higher fencing number for every grant, and keeps it through every other change', async () => {
      const { store } = opened()
      let record = await inserted(store, newRecord())
      for (let grant = 0; grant < 12; grant++) {
        // Numbers burnt meanwhile must not bring an earlier one back.
        const [failed] = await Promise.all([changed(store, failing(record)), inserted(store, newRecord())])
        expect(failed.fencingToken).toBe(record.fencingToken)
        const granted = await changed(store, granting(failed))
        expect(granted.fencingToken).toBeGreaterThan(record.fencingToken)
        record = granted
      }
      const numbers = (await store.readHistory(record.digest)).attempts.map(({ fencingToken }) => fencingToken)
      expect(numbers).toHaveLength(12)
      expect([...numbers, record.fencingToken]).toEqual([...numbers, record.fencingToken].toSorted((a, b) => a - b))
    })

    test('fills details that are still null, one by one, and never changes those that are given', async () => {
      const { store } = opened()
      const given = { ...noDetails, payload: 'null', seq: '0' }
      const first = await inserted(store, newRecord({ details: given }))
      const fill = { payload: '2', refs: ['r'], source: 's', seq: '9223372036854775807', occurredAt: 86_400_000 }
      const failed = await changed(store, failing(first))
      const second = await changed(store, granting(failed, { fill: { ...noDetails, refs: fill.refs } }))
      expect(await detailsOf(second.digest)).toEqual({ ...given, refs: ['r'] })
      const third = await changed(store, granting(second, { fill }))
      expect(await detailsOf(second.digest)).toEqual({ ...fill, payload: 'null', seq: '0' })
      const others = { payload: '3', refs: ['x', 'y'], source: 't', seq: '1', occurredAt: 1 }
      await changed(store, granting(third, { fill: others }))
      expect(await detailsOf(second.digest)).toEqual({ ...fill, payload: 'null', seq: '0' })
    })

    async function detailsOf(digest: string) {
      const { rows } = await opened().store.readFull([digest])
      return rows[0]?.details
    }
  })
}

function auditOf(target: string) {
  return {
    actor: 'key:ops',
    action: 'record.resolve',
    target,
    reason: 'the provider confirmed it, “twice”',
    before: '{"state": "held"}',
    after: '{"state":"completed","n":12345678901234567890}',
    requestId: 'r-1',
  }
}
