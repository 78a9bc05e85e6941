import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRanbook, type RanbookOptions } from '../src/index.ts'

// A clock of the test's own, so that what is asserted are the times themselves and not how busy the machine is.

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

/** A client whose every try is noted with its time and handed to `answer`. */
function clientOf(answer: (signal: AbortSignal) => Promise<Response>, options: Partial<RanbookOptions> = {}) {
  const triedAt: number[] = []
  const send: typeof fetch = (_, init) => {
    triedAt.push(performance.now() - startedAt)
    return answer(init?.signal as AbortSignal)
  }
  const startedAt = performance.now()
  return {
    triedAt,
    ranbook: createRanbook({ url: 'http://ranbook.test', apiKey: 'k', consumer: 'c', fetch: send, ...options }),
  }
}

/** Lets the clock run until the call has ended; resolves to its end and the time it took. */
async function timeOf(call: Promise<unknown>): Promise<{ tookMs: number; error: unknown }> {
  const startedAt = performance.now()
  let tookMs: number | undefined
  const error = call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  void error.then(() => {
    tookMs = performance.now() - startedAt
  })
  while (tookMs === undefined) await vi.advanceTimersByTimeAsync(1)
  return { tookMs, error: await error }
}

function never(signal: AbortSignal): Promise<Response> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

function busy(retryAfter: string): () => Promise<Response> {
  return () => Promise.resolve(new Response('{}', { status: 503, headers: { 'retry-after': retryAfter } }))
}

const order = { class: 'refund.issued', key: 'order:88:refund' }

test('Retry-After is waited for in full, with jitter on top', async () => {
  const { ranbook, triedAt } = clientOf(busy('2'), { retries: 2 })
  const { error } = await timeOf(ranbook.claim(order))
  expect(error).toMatchObject({ status: 503, retryAfterMs: 2000 })
  expect(triedAt).toHaveLength(3)
  for (const [index, at] of triedAt.entries()) {
    expect(at).toBeGreaterThanOrEqual(index * 2000)
    expect(at).toBeLessThanOrEqual(index * 2200 + 1)
  }
})

test('a wait that would end after the deadline is not begun', async () => {
  const { ranbook, triedAt } = clientOf(busy('16'))
  const { tookMs, error } = await timeOf(ranbook.claim(order))
  expect(error).toMatchObject({ status: 503, retryAfterMs: 16_000 })
  expect(triedAt).toEqual([0])
  expect(tookMs).toBeLessThanOrEqual(1)
})

test.each(['soon', '-1', 'Wed, 21 Oct 2026 07:28:00 GMT'])(
  'a Retry-After of "%s" is left to the client’s own pauses',
  async (value) => {
    const { ranbook, triedAt } = clientOf(busy(value), { retries: 1 })
    const { error } = await timeOf(ranbook.claim(order))
    expect(error).toMatchObject({ status: 503, retryAfterMs: null })
    expect(triedAt[1]).toBeLessThanOrEqual(101)
  },
)

test('a service that never answers is given up at the deadline, each try at its own time limit', async () => {
  const { ranbook, triedAt } = clientOf(never)
  const { tookMs, error } = await timeOf(ranbook.claim(order))
  expect(error).toMatchObject({ code: 'unreachable', status: 0, message: expect.stringContaining('no answer within') })
  expect(tookMs).toBeGreaterThanOrEqual(14_700)
  expect(tookMs).toBeLessThanOrEqual(15_001)
  expect(triedAt).toHaveLength(3)
  expect(triedAt[1]).toBeGreaterThanOrEqual(5000)
})

test('pauses grow to 5 s and no further, and any number of retries ends at the deadline', async () => {
  const { ranbook, triedAt } = clientOf(() => Promise.reject(new TypeError('refused')), {
    retries: 1000,
    deadlineMs: 60_000,
  })
  const { tookMs, error } = await timeOf(ranbook.claim(order))
  expect(error).toMatchObject({ code: 'unreachable' })
  expect(tookMs).toBeLessThanOrEqual(60_000)
  // No more than 12 pauses of 5 s fit in.
  expect(triedAt.length).toBeGreaterThan(12)
  const pauses = triedAt.slice(1).map((at, index) => at - (triedAt[index] ?? 0))
  expect(Math.max(...pauses)).toBeLessThanOrEqual(5001)
})

test('waitMs is added to both time limits', async () => {
  const { ranbook, triedAt } = clientOf(never)
  const { tookMs } = await timeOf(ranbook.claim({ ...order, waitMs: 30_000 }))
  expect(triedAt[1]).toBeGreaterThanOrEqual(35_000)
  expect(tookMs).toBeLessThanOrEqual(45_001)
})

test('a call leaves no timer and no listener behind', async () => {
  const { ranbook } = clientOf(() => Promise.resolve(Response.json({ outcome: 'duplicate' })))
  const { signal } = new AbortController()
  const add = vi.spyOn(signal, 'addEventListener')
  const remove = vi.spyOn(signal, 'removeEventListener')
  await ranbook.claim({ ...order, signal })
  expect(vi.getTimerCount()).toBe(0)
  expect(add).toHaveBeenCalledTimes(1)
  expect(remove.mock.calls[0]?.slice(0, 2)).toEqual(add.mock.calls[0]?.slice(0, 2))
})
