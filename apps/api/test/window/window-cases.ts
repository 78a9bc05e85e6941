import { randomUUID } from 'node:crypto'
import { limits } from '@ranbook/contract'
import {
  type ClaimStore,
  firstGrant,
  type LedgerRecord,
  type NewRecord,
  type WindowFacts,
  type WindowPlace,
} from '@ranbook/rules'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changed, inserted, standing } from '../conformance/asked-of-store.ts'
import { changeOf, failing, granting, newRecord } from '../conformance/new-record.ts'

export type OpenedWindow = {
  store: ClaimStore
  /** Resolves once the store's clock is past that time in ms. */
  clockPasses(time: number): Promise<void>
  close(): Promise<void>
}

/** What windows promise beside what every store does: they forget, and keep what has to be kept until then. */
export function windowCases(name: string, place: WindowPlace, open: () => Promise<OpenedWindow>): void {
  describe(`${name}, as windows`, () => {
    let opened: OpenedWindow
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.close())

    const record = (fields: Parameters<typeof newRecord>[0] = {}, window: Partial<WindowFacts> = {}): NewRecord => ({
      ...newRecord(fields),
      window: { place, ms: 3_600_000, degraded: false, ...window },
    })
    const standingOrGone = async (digest: string): Promise<LedgerRecord | null> => {
      const [found] = await opened.store.read([{ digest, claimToken: null }])
      return found?.record ?? null
    }

    test('keep a record as it was given, but for history, details and all but 8 bytes of its fingerprint', async () => {
      const fingerprint = { kind: 'computed', value: `sha256:${'ab'.repeat(32)}`, rule: '01234567' } as const
      const given = record({ fingerprint, owner: 'billing-1', leaseMs: 1234 }, { degraded: true, ms: 86_400_000 })
      const first = await inserted(opened.store, given)
      expect(first).toEqual({
        ...firstGrant(given, first.fencingToken, first.claimedAt),
        fingerprint: { ...fingerprint, value: `sha256:${'ab'.repeat(8)}` },
      })
      expect(await standing(opened.store, first.digest)).toEqual(first)
    })

    test.each([
      ['completed', { state: 'completed' as const, result: '{"n": 1.0}' }],
      ['failed', { state: 'failed' as const, availableAt: 1_800_000_000_000, error: '{"message":"no"}' }],
      ['dead', { state: 'dead' as const, cause: 'attempts_lost' as const }],
      ['ready', { state: 'ready' as const, cause: 'released' as const }],
      ['skipped', { state: 'skipped' as const, cause: 'operator' as const }],
    ])('show a record that is %s as it was written', async (_, fields) => {
      const first = await inserted(opened.store, record({ owner: 'o' }))
      const ended = { ...fields, leaseExpiresAt: null, sweepAt: null, endedAt: first.claimedAt + 17 }
      const written = await changed(opened.store, changeOf(first, ended))
      const shown = await standing(opened.store, first.digest)
      // Whom it belonged to is no matter any more once it is settled.
      expect({ ...shown, owner: null }).toEqual({ ...written, owner: null })
    })

    test('forget a claimed record a window after its lease, and a settled one a window after it ended', async () => {
      const running = await inserted(opened.store, record({ leaseMs: 300 }, { ms: 1000 }))
      const settled = await inserted(opened.store, record({ leaseMs: 60_000 }, { ms: 1000 }))
      const endedAt = settled.claimedAt
      await changed(
        opened.store,
        changeOf(settled, { state: 'completed', leaseExpiresAt: null, sweepAt: null, endedAt }),
      )
      await opened.clockPasses(settled.claimedAt + 1001)
      await expect.poll(() => standingOrGone(settled.digest)).toBeNull()
      await opened.clockPasses(running.claimedAt + 1301)
      await expect.poll(() => standingOrGone(running.digest)).toBeNull()
    })

    test('grant a forgotten key anew, with a higher fencing number, and the old owner can do nothing', async () => {
      const key = randomUUID()
      const old = await inserted(opened.store, record({ key, leaseMs: 1 }, { ms: 1000 }))
      await opened.clockPasses(old.claimedAt + 1002)
      await expect.poll(() => standingOrGone(old.digest)).toBeNull()
      const anew = await inserted(opened.store, record({ key }))
      expect(anew).toMatchObject({ version: 1, attempt: 1 })
      expect(anew.fencingToken).toBeGreaterThan(old.fencingToken)
      // Both have version 1: what tells them apart is the number of the grant.
      expect(await opened.store.compareAndSet([changeOf(old, { state: 'ready', cause: 'released' })])).toEqual([null])
      expect(await standing(opened.store, anew.digest)).toEqual(anew)
    })

    test('draw a higher fencing number with every grant, the clock’s where it is higher', async () => {
      let last = await inserted(opened.store, record())
      for (let attempt = 0; attempt < 5; attempt++) {
        const failed = await changed(opened.store, failing(last))
        expect(failed.fencingToken).toBe(last.fencingToken)
        const again = await changed(opened.store, granting(failed))
        expect(again.fencingToken).toBeGreaterThan(last.fencingToken)
        expect(again.fencingToken).toBeLessThan(2 ** 53)
        last = again
      }
      expect((await standing(opened.store, last.digest)).fencingToken).toBe(last.fencingToken)
    })

    test('keep every displaced token spent', async () => {
      const tokens: string[] = []
      let last = await inserted(opened.store, record())
      for (let attempt = 0; attempt < 40; attempt++) {
        tokens.push(last.claimToken)
        last = await changed(opened.store, granting(await changed(opened.store, failing(last))))
      }
      const asked = [...tokens, last.claimToken, randomUUID()]
      const read = await opened.store.read(asked.map((claimToken) => ({ digest: last.digest, claimToken })))
      expect(read.map((one) => one?.tokenSpent)).toEqual([...tokens.map(() => true), false, false])
    })

    test('keep a result up to the limit, and of a larger error what the service made of it', async () => {
      const result = JSON.stringify('r'.repeat(limits.windowResultMaxBytes - 2))
      const first = await inserted(opened.store, record())
      const ended = { leaseExpiresAt: null, sweepAt: null, endedAt: first.claimedAt }
      await changed(opened.store, changeOf(first, { ...ended, state: 'completed', result }))
      expect((await standing(opened.store, first.digest)).result).toBe(result)

      const second = await inserted(opened.store, record())
      const error = JSON.stringify({ message: 'm'.repeat(8000), detail: 'd'.repeat(60_000) })
      const dead = { ...ended, state: 'dead', cause: 'not_retryable', error } as const
      await changed(opened.store, changeOf(second, dead))
      const kept = JSON.parse((await standing(opened.store, second.digest)).error ?? '') as { message: string }
      expect(kept.message.startsWith('m'.repeat(100))).toBe(true)
      expect(JSON.stringify(kept).length).toBeLessThan(20_000)
    })

    test.each(['a/b?c#d%2F..', '💥 ключ', '__proto__', 'k'.repeat(1024), ' spaces ', '\u202Eright to left'])(
      'keep the key %j byte for byte',
      async (key) => {
        const first = await inserted(opened.store, record({ key, consumer: `c ${key.slice(0, 50)}` }))
        const shown = await standing(opened.store, first.digest)
        expect([shown.key, shown.consumer]).toEqual([key, `c ${key.slice(0, 50)}`])
      },
    )
  })
}
