import { StoreError } from '@ranbook/rules'
import { expect, test } from 'vitest'
import { type Answered, call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { listeningApp } from './listening-app.ts'
import { keyOf, type MemoryApp, memoryApp } from './memory-app.ts'
import { until } from './until.ts'

const longMs = 30_000

const claim = ({ app }: MemoryApp, more: Record<string, unknown> = {}): Promise<Answered> =>
  call(app, 'POST', '/v1/claims', { body: claimBody('k', more) })
const settle = ({ app }: MemoryApp, id: string, verb: string, body: Record<string, unknown>): Promise<Answered> =>
  call(app, 'POST', `/v1/claims/${id}/${verb}`, { body: { claim_token: tokenOf(0), ...body } })

/** A claim that is held by token 0, and then as many that wait for it, with tokens of their own. */
async function waitersOf(it: MemoryApp, count: number, more: Record<string, unknown> = {}, lease_ms = 60_000) {
  const owner = await claim(it, { claim_token: tokenOf(0), lease_ms })
  const waiting = Array.from({ length: count }, (_, at) =>
    claim(it, { claim_token: tokenOf(at + 1), wait_ms: longMs, ...more }),
  )
  await until(() => it.deps.waitRoom.waiting() === count)
  return { id: owner.json.id, waiting }
}

const never = (): Promise<never> => new Promise(() => {})
const outcomesOf = (answers: Answered[]): string[] => answers.map(({ json }) => json.outcome).sort()

test('a complete in this process wakes its waiters from memory, with the result', async () => {
  const it = memoryApp()
  const { id, waiting } = await waitersOf(it, 3)
  it.store.read = never
  await settle(it, id, 'complete', { result: 42 })
  for (const { status, json } of await Promise.all(waiting)) {
    expect([status, json.outcome, json.result]).toEqual([200, 'duplicate', 42])
  }
  expect(it.deps.waitRoom.waiting()).toBe(0)
})

test('a release grants one of the waiters, the others wait on', async () => {
  const it = memoryApp()
  const { id, waiting } = await waitersOf(it, 5)
  await settle(it, id, 'release', {})
  const granted = await Promise.race(waiting)
  expect([granted.status, granted.json.attempt]).toEqual([201, 1])
  await until(() => it.deps.waitRoom.waiting() === 4)
  await settle(it, id, 'complete', { claim_token: granted.json.claim_token })
  expect(outcomesOf(await Promise.all(waiting))).toEqual([
    'claimed',
    'duplicate',
    'duplicate',
    'duplicate',
    'duplicate',
  ])
})

test('a fail answers backoff, or dead when it is never to be retried', async () => {
  for (const [retryable, outcome, status] of [
    [true, 'backoff', 409],
    [false, 'dead', 410],
  ] as const) {
    const it = memoryApp()
    const { id, waiting } = await waitersOf(it, 1)
    await settle(it, id, 'fail', { error: { message: 'm' }, retryable, retry_after_ms: 5000 })
    const [answer] = await Promise.all(waiting)
    expect([answer?.status, answer?.json.outcome]).toEqual([status, outcome])
  }
})

test('a change made in another process is found by reading all records that are waited for in one statement', async () => {
  const it = memoryApp()
  const { read } = it.store
  const sizes: number[] = []
  it.store.read = (requests) => {
    sizes.push(requests.length)
    return read(requests)
  }
  const keys = ['a', 'b', 'c']
  const owners = await Promise.all(keys.map((key) => claim(it, { key, claim_token: tokenOf(0) })))
  const waiting = keys.flatMap((key) => [1, 2].map(() => claim(it, { key, wait_ms: longMs })))
  await until(() => it.deps.waitRoom.waiting() === 6)
  const digests = owners.map(({ json }) => json.id.slice(4))
  await it.store.completeClaimed(
    digests.map((digest) => ({ digest, claimToken: tokenOf(0), consumer: null, result: null })),
  )
  expect(outcomesOf(await Promise.all(waiting))).toEqual(Array(6).fill('duplicate'))
  expect(Math.max(...sizes)).toBeLessThanOrEqual(keys.length)
})

test('the end of the lease grants one of the waiters the next attempt', async () => {
  const it = memoryApp()
  const { waiting } = await waitersOf(it, 3, { wait_ms: 2000 }, 1000)
  it.clock.now += 1001
  const answers = await Promise.all(waiting)
  expect(outcomesOf(answers)).toEqual(['claimed', 'in_progress', 'in_progress'])
  expect(answers.find(({ status }) => status === 201)?.json).toMatchObject({ attempt: 2, fencing_token: 2 })
})

test('when the time is over the answer is that of the moment', async () => {
  const it = memoryApp()
  const { waiting } = await waitersOf(it, 1, { wait_ms: 60 })
  const [answer] = await Promise.all(waiting)
  expect([answer?.status, answer?.json.outcome]).toEqual([409, 'in_progress'])
  expect(answer?.headers.get('retry-after')).toBe('5')
})

test('only the final answer of a wait is counted', async () => {
  const it = memoryApp()
  const { id, waiting } = await waitersOf(it, 2)
  await settle(it, id, 'extend', {})
  await settle(it, id, 'complete', {})
  await Promise.all(waiting)
  expect(it.observed).toEqual(['claimed', 'extend', 'complete', 'duplicate', 'duplicate'])
})

test('a client that hung up is never granted', async () => {
  const it = memoryApp()
  const server = await listeningApp(it)
  const { json } = await claim(it, { claim_token: tokenOf(0) })
  const hangUp = new AbortController()
  const body = claimBody('k', { claim_token: tokenOf(1), wait_ms: longMs })
  const lost = call(server.url, 'POST', '/v1/claims', { body, signal: hangUp.signal })
  const gone = expect(lost).rejects.toThrow()
  await until(() => it.deps.waitRoom.waiting() === 1)
  hangUp.abort()
  await gone
  await until(() => it.deps.waitRoom.waiting() === 0)
  await settle(it, json.id, 'release', {})
  const [standing] = await it.store.read([{ digest: json.id.slice(4), claimToken: tokenOf(1) }])
  expect(standing?.record).toMatchObject({ state: 'ready', claimToken: tokenOf(0) })
})

test('a client that hung up is not granted either when the record changes before anybody noticed', async () => {
  const it = memoryApp()
  const { json } = await claim(it, { claim_token: tokenOf(0) })
  const hangUp = new AbortController()
  const body = claimBody('k', { claim_token: tokenOf(1), wait_ms: longMs })
  const waiting = call(it.app, 'POST', '/v1/claims', { body, signal: hangUp.signal })
  await until(() => it.deps.waitRoom.waiting() === 1)
  hangUp.abort()
  await settle(it, json.id, 'release', {})
  expect((await waiting).json.outcome).toBe('in_progress')
  expect((await it.store.read([{ digest: json.id.slice(4), claimToken: null }]))[0]?.record.state).toBe('ready')
})

test('a key that was revoked while its claim waited gets 401 and is never granted; one with less scope 403', async () => {
  for (const change of ['revoked', 'narrowed']) {
    const it = memoryApp()
    const { json } = await claim(it, { claim_token: tokenOf(0) })
    const body = claimBody('k', { claim_token: tokenOf(1), wait_ms: longMs })
    const waiting = call(it.app, 'POST', '/v1/claims', { body, key: 'claim' })
    await until(() => it.deps.waitRoom.waiting() === 1)
    if (change === 'revoked') it.keys.delete('claim')
    else it.keys.set('claim', keyOf('claim', ['claim'], ['payout.*']))
    await settle(it, json.id, 'release', {})
    expectProblem(await waiting, change === 'revoked' ? 'unauthenticated' : 'forbidden')
    const [standing] = await it.store.read([{ digest: json.id.slice(4), claimToken: tokenOf(1) }])
    expect(standing?.record).toMatchObject({ state: 'ready', claimToken: tokenOf(0) })
    expect(it.deps.waitRoom.waiting()).toBe(0)
  }
})

test('a thousand wait; further ones are answered at once', async () => {
  const it = memoryApp()
  const { id, waiting } = await waitersOf(it, 1000)
  expect((await claim(it, { wait_ms: longMs })).json.outcome).toBe('in_progress')
  await settle(it, id, 'complete', {})
  expect(new Set(outcomesOf(await Promise.all(waiting)))).toEqual(new Set(['duplicate']))
  expect(it.deps.waitRoom.waiting()).toBe(0)
})

test('a shutdown lets everybody go at once with the answer there is', async () => {
  const it = memoryApp()
  const { waiting } = await waitersOf(it, 10)
  it.state.draining = true
  expect(outcomesOf(await Promise.all(waiting))).toEqual(Array(10).fill('in_progress'))
})

test('a store that can’t be read makes waiting claims 503', async () => {
  const it = memoryApp()
  const { waiting } = await waitersOf(it, 2)
  it.store.read = async () => {
    throw new StoreError('store_unavailable', 'cut')
  }
  for (const answer of await Promise.all(waiting)) expectProblem(answer, 'store_unavailable')
  expect(it.deps.waitRoom.waiting()).toBe(0)
})

test.each([-1, 30_001, 0.5, '10', null])('a wait_ms of %j is 400', async (wait_ms) => {
  expectProblem(await claim(memoryApp(), { wait_ms }), 'invalid_request')
})
