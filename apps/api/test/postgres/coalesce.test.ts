import { createMemoryStore, type NewRecord, type RecordStore, StoreError } from '@ranbook/rules'
import { expect, test, vi } from 'vitest'
import { type CoalesceOptions, coalesce } from '../../src/stores/coalesce.ts'
import { newRecord, noDetails } from '../conformance/new-record.ts'

type Call = { method: 'claims' | 'completes'; items: number; answer(): void; fail(error: Error): void }

const roomy: CoalesceOptions = {
  inFlightMax: 3,
  worthRows: 1,
  gatherMaxMs: 60_000,
  batchRowsMax: 10,
  batchBytesMax: 1e9,
  queuedRowsMax: 1000,
  queuedBytesMax: 1e9,
  settleReserve: 0.2,
  waitMaxMs: 60_000,
  stalledMs: 60_000,
  monotonicMs: () => 0,
}

/** A gathered memory store whose calls are answered when the test says so, and the calls that reached it. */
function held(options: Partial<CoalesceOptions> = {}) {
  const memory = createMemoryStore({ now: () => 0 })
  const calls: Call[] = []
  const hold = <Item, Answer>(method: Call['method'], run: (items: readonly Item[]) => Promise<Answer[]>) =>
    vi.fn(
      (items: readonly Item[]) =>
        new Promise<Answer[]>((resolve, reject) => {
          calls.push({ method, items: items.length, answer: () => resolve(run(items)), fail: reject })
        }),
    )
  const inner: RecordStore = {
    ...memory,
    insertIfAbsent: hold('claims', memory.insertIfAbsent),
    completeClaimed: hold('completes', memory.completeClaimed),
  }
  const store = coalesce(inner, { ...roomy, ...options })
  const claim = (record: NewRecord = newRecord()) => store.insertIfAbsent([record])
  const complete = ({ request }: NewRecord = newRecord()) =>
    store.completeClaimed([{ digest: request.digest, claimToken: request.claimToken, consumer: null, result: null }])
  const reached = (count: number) => vi.waitUntil(() => calls.length >= count)
  const answerAll = async (): Promise<void> => {
    for (let next = 0; next < calls.length || Object.values(store.queued()).some((rows) => rows > 0); ) {
      await reached(next + 1)
      calls[next++]?.answer()
      await new Promise(setImmediate)
    }
  }
  return { store, calls, claim, complete, reached, answerAll }
}

test('calls of one moment travel together, and each is answered what is its own', async () => {
  const { calls, claim, answerAll } = held()
  const records = Array.from({ length: 7 }, () => newRecord())
  const twice = records[3] as NewRecord
  const claims = Promise.all([...records, twice].map(claim))
  await answerAll()
  expect(calls.map(({ items }) => items)).toEqual([8])
  const outcomes = (await claims).map(([outcome]) => outcome)
  expect(outcomes.map((outcome) => outcome?.record.key)).toEqual([...records, twice].map(({ request }) => request.key))
  expect(outcomes.map((outcome) => outcome?.inserted)).toEqual([...records.map(() => true), false])
})

test('a call is sent at once while there is room, and one with many items stays whole', async () => {
  const { store, calls, claim, answerAll, reached } = held()
  const many = store.insertIfAbsent(Array.from({ length: 25 }, () => newRecord()))
  await reached(1)
  const one = claim()
  await reached(2)
  expect(calls.map(({ items }) => items)).toEqual([25, 1])
  await answerAll()
  expect([(await many).length, (await one).length]).toEqual([25, 1])
})

test('beside a call that runs a further one is made for enough items at once, for fewer after a moment', async () => {
  const clock = { ms: 0 }
  const { calls, claim, answerAll, reached } = held({ worthRows: 3, gatherMaxMs: 5, monotonicMs: () => clock.ms })
  const claims = [claim()]
  await reached(1)
  claims.push(claim(), claim())
  await new Promise(setImmediate)
  expect(calls).toHaveLength(1)
  claims.push(claim())
  await reached(2)
  expect(calls[1]?.items).toBe(3)
  calls[1]?.answer()
  await Promise.all(claims.slice(1))
  claims.push(claim())
  clock.ms = 5
  await reached(3)
  expect(calls[2]?.items).toBe(1)
  await answerAll()
  await Promise.all(claims)
})

test('what came while there was no room travels in batches of the size allowed, oldest first', async () => {
  const { calls, claim, answerAll, reached } = held({ inFlightMax: 2 })
  const first = claim()
  await reached(1)
  const records = Array.from({ length: 25 }, () => newRecord())
  const waiting = Promise.all(records.map(claim))
  await answerAll()
  await first
  expect(calls.map(({ items }) => items)).toEqual([1, 10, 10, 5])
  const numbers = (await waiting).map(([outcome]) => outcome?.record.fencingToken)
  expect(numbers).toEqual(records.map((_, at) => at + 2))
})

test('a settle finds room however many claims are in flight, and goes before the claims that wait', async () => {
  const { calls, claim, complete, answerAll, reached } = held({ batchRowsMax: 1 })
  const claims = Promise.all(Array.from({ length: 6 }, () => claim()))
  await reached(2)
  const settles = Promise.all([complete(), complete()])
  await reached(3)
  expect(calls.map(({ method }) => method)).toEqual(['claims', 'claims', 'completes'])
  calls[0]?.answer()
  await reached(4)
  expect(calls[3]?.method).toBe('completes')
  await answerAll()
  await Promise.all([claims, settles])
})

test('a full queue refuses claims at once, then settles and the reads they need, and does nothing of what it refused', async () => {
  const { store, calls, claim, complete, answerAll, reached } = held({ inFlightMax: 2, queuedRowsMax: 10 })
  const underway = [claim(), complete()]
  await reached(2)
  const waiting = Array.from({ length: 8 }, () => claim())
  const overloaded = { name: 'StoreError', code: 'overloaded' }
  await expect(claim()).rejects.toMatchObject(overloaded)
  const read = () => store.read([{ digest: newRecord().request.digest, claimToken: null }])
  const settles = [complete(), read()]
  await expect(complete()).rejects.toMatchObject(overloaded)
  await expect(read()).rejects.toMatchObject(overloaded)
  expect(store.queued()).toEqual({ claims: 8, reads: 1, completes: 1, changes: 0 })
  await answerAll()
  await Promise.all([...underway, ...waiting, ...settles])
  expect(calls.reduce((sum, { items }) => sum + items, 0)).toBe(11)
})

test('payloads that wait are bounded by their size, too', async () => {
  const { claim, answerAll, reached } = held({ inFlightMax: 2, queuedBytesMax: 1_000_000 })
  const details = { payload: `"${'x'.repeat(250_000)}"`, refs: null, source: null, seq: null, occurredAt: null }
  const underway = claim()
  await reached(1)
  const waiting = Array.from({ length: 4 }, () => claim(newRecord({ details })))
  await expect(claim(newRecord({ details }))).rejects.toMatchObject({ code: 'overloaded' })
  await answerAll()
  await Promise.all([underway, ...waiting])
})

test('a batch is bounded by what it holds, too, and one large call goes alone', async () => {
  const { calls, claim, answerAll, reached } = held({ inFlightMax: 2, batchBytesMax: 1_000_000 })
  const sized = (length: number) => newRecord({ details: { ...noDetails, payload: `"${'x'.repeat(length)}"` } })
  const underway = claim()
  await reached(1)
  const waiting = [400_000, 400_000, 400_000, 2_000_000, 1, 1].map((length) => claim(sized(length)))
  await answerAll()
  await Promise.all([underway, ...waiting])
  expect(calls.map(({ items }) => items)).toEqual([1, 2, 1, 1, 2])
})

test('who waited too long is refused when its turn comes', async () => {
  let now = 0
  const { calls, claim, reached, answerAll } = held({ inFlightMax: 2, waitMaxMs: 2000, monotonicMs: () => now })
  const underway = claim()
  await reached(1)
  const late = expect(claim()).rejects.toMatchObject({ code: 'overloaded' })
  now = 1000
  const early = claim()
  now = 2001
  calls[0]?.answer()
  await late
  await answerAll()
  expect((await Promise.all([underway, early])).map(([outcome]) => outcome?.inserted)).toEqual([true, true])
  expect(calls.map(({ items }) => items)).toEqual([1, 1])
})

test('where nothing moves for too long, those who would wait behind others are refused at once', async () => {
  let now = 0
  const { calls, claim, complete, reached, answerAll } = held({
    inFlightMax: 2,
    stalledMs: 250,
    monotonicMs: () => now,
  })
  const underway = [claim(), claim()]
  await reached(1)
  const waiting = [claim(), claim()]
  now = 250
  waiting.push(claim())
  now = 251
  await expect(claim()).rejects.toMatchObject({ name: 'StoreError', code: 'overloaded' })
  const settles = [complete()]
  await reached(2)
  waiting.push(claim())
  await answerAll()
  await Promise.all([...underway, ...waiting, ...settles])
  expect(calls.map(({ items }) => items)).toEqual([2, 1, 4])
})

test('what a gathered call throws reaches its own callers only', async () => {
  const { calls, claim, reached, answerAll } = held({ inFlightMax: 2, batchRowsMax: 2 })
  const broken = [claim(), claim()]
  const fine = [claim(), claim()]
  await reached(1)
  const error = new StoreError('store_unavailable', 'cut')
  calls[0]?.fail(error)
  await expect(Promise.allSettled(broken)).resolves.toEqual(broken.map(() => ({ status: 'rejected', reason: error })))
  await reached(2)
  calls[1]?.answer()
  expect((await Promise.all(fine)).map(([outcome]) => outcome?.inserted)).toEqual([true, true])
  await answerAll()
})

test('an empty call is answered without the store', async () => {
  const { store, calls } = held()
  expect(await store.insertIfAbsent([])).toEqual([])
  expect(calls).toEqual([])
})
