import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { listeningApp } from './listening-app.ts'
import { type MemoryApp, memoryApp } from './memory-app.ts'
import { until } from './until.ts'

/** Holds every insert and complete until `release`. */
function holdStore({ deps }: MemoryApp): { held: () => number; release: () => void } {
  const { insertIfAbsent, completeClaimed } = deps.ledger.store
  let held = 0
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const wait = async (): Promise<void> => {
    held += 1
    await gate
  }
  deps.ledger.store.insertIfAbsent = async (records) => {
    await wait()
    return insertIfAbsent(records)
  }
  deps.ledger.store.completeClaimed = async (requests) => {
    await wait()
    return completeClaimed(requests)
  }
  return { held: () => held, release: () => release() }
}

test('too many requests in flight are refused at once: pages first, then claims, settles last, health never', async () => {
  const it = memoryApp()
  const claimed = await call(it.app, 'POST', '/v1/claims', { body: claimBody('mine', { claim_token: tokenOf(1) }) })
  const store = holdStore(it)
  const complete = () =>
    call(it.app, 'POST', `/v1/claims/${claimed.json.id}/complete`, { body: { claim_token: tokenOf(1) } })
  const claim = (at: number) => call(it.app, 'POST', '/v1/claims', { body: claimBody(`k${at}`) })

  const claims = Array.from({ length: 2000 }, (_, at) => claim(at))
  await until(() => store.held() === 2000)
  expectProblem(await call(it.app, 'GET', '/metrics'), 'overloaded')
  claims.push(...Array.from({ length: 1000 }, (_, at) => claim(2000 + at)))
  await until(() => store.held() === 3000)
  expectProblem(await claim(3000), 'overloaded')
  const settles = Array.from({ length: 1000 }, complete)
  await until(() => store.held() === 4000)
  expectProblem(await complete(), 'overloaded')
  expect((await call(it.app, 'GET', '/healthz', { key: null })).status).toBe(200)

  store.release()
  expect(new Set((await Promise.all(claims)).map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set((await Promise.all(settles)).map(({ status }) => status))).toEqual(new Set([200]))
  expect((await claim(3000)).status).toBe(201)
})

test('bodies held by requests in flight are bounded; the room comes back with the answers', async () => {
  const it = memoryApp()
  const store = holdStore(it)
  const payload = 'x'.repeat(250_000)
  const batch = (at: number) =>
    call(it.app, 'POST', '/v1/claims/batch', {
      body: { claims: Array.from({ length: 32 }, (_, item) => claimBody(`k${at}-${item}`, { payload })) },
    })
  const fitting = Array.from({ length: 6 }, (_, at) => batch(at))
  await until(() => store.held() === 6)
  expectProblem(await batch(6), 'overloaded')
  expect((await call(it.app, 'GET', '/metrics')).status).toBe(200)
  const settled = call(it.app, 'POST', '/v1/settlements', {
    body: { settlements: Array.from({ length: 32 }, () => ({ action: 'complete', result: payload })) },
  })
  expect((await settled).status).toBe(200)
  store.release()
  expect(new Set((await Promise.all(fitting)).map(({ status }) => status))).toEqual(new Set([200]))
  expect((await batch(6)).status).toBe(200)
})

test('waiting claims hold what was read from their bodies, not the bodies: whoever settles finds room', async () => {
  const it = memoryApp()
  const { url } = await listeningApp(it)
  const { json } = await call(url, 'POST', '/v1/claims', { body: claimBody('k', { claim_token: tokenOf(0) }) })
  const wide = JSON.stringify(claimBody('k', { wait_ms: 30_000, payload: { n: 1 } })).padEnd(1024 * 1024)
  const waiting = Array.from({ length: 64 }, () => call(url, 'POST', '/v1/claims', { body: wide }))
  await until(() => it.deps.waitRoom.waiting() === 64)
  const padded = JSON.stringify({ claim_token: tokenOf(0) }).padEnd(1024 * 1024)
  const settle = (verb: string) => call(url, 'POST', `/v1/claims/${json.id}/${verb}`, { body: padded })
  expect((await settle('extend')).status).toBe(200)
  expect((await settle('complete')).status).toBe(200)
  expect(new Set((await Promise.all(waiting)).map((answer) => answer.json.outcome))).toEqual(new Set(['duplicate']))
})

test('while it drains, claims and pages are refused, and whoever settles is heard', async () => {
  const it = memoryApp()
  const claimed = await call(it.app, 'POST', '/v1/claims', { body: claimBody('k', { claim_token: tokenOf(1) }) })
  it.state.draining = true
  expectProblem(await call(it.app, 'POST', '/v1/claims', { body: claimBody('k2') }), 'draining')
  expectProblem(await call(it.app, 'POST', '/v1/claims/batch', { body: { claims: [claimBody('k2')] } }), 'draining')
  expectProblem(await call(it.app, 'GET', '/metrics'), 'draining')
  const { id } = claimed.json
  const settled = await call(it.app, 'POST', `/v1/claims/${id}/complete`, { body: { claim_token: tokenOf(1) } })
  expect(settled.status).toBe(200)
  expect((await call(it.app, 'GET', '/healthz', { key: null })).status).toBe(200)
})

test('over a socket a body is refused as soon as it is too large, however it is sent', async () => {
  const it = memoryApp()
  const server = await listeningApp(it)
  const announced = await call(server.url, 'POST', '/v1/claims', { body: 'x'.repeat(2 * 1024 * 1024) })
  expectProblem(announced, 'payload_too_large')

  const socket = connect(server.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write('POST /v1/claims HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n')
  socket.write('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n')
  let received = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    received += part
  })
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  // One chunk above the limit, and the last one is never sent.
  for (let at = 0; at < 17; at++) socket.write(chunk)
  await until(() => received.includes('payload_too_large'))
  expect(received).toMatch(/^HTTP\/1\.1 413 /)
})
