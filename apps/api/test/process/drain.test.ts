import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { processesIn } from '../embedded/processes-in.ts'
import { recoverEndlessly } from '../embedded/recover-endlessly.ts'
import { begunDataDir } from '../embedded/temporary-data-dir.ts'
import { killHard } from '../faults/kill-hard.ts'
import { type Ranbook, startRanbook, testAdminKey } from './start-ranbook.ts'

const claim = { class: 'drain.test', consumer: 'worker', key: 'one' }

/** Ends the server by `signal` and returns how long it took to be gone, its database included. */
async function timeToGo(server: Ranbook, dataDir: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
  const from = performance.now()
  server.process.kill(signal)
  expect(await server.ended).toEqual({ code: 0, signal: null })
  expect(processesIn(dataDir)).toEqual([])
  return performance.now() - from
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'an idle server and its database are gone soon after %s, idle connections or not',
  async (signal) => {
    const dataDir = await begunDataDir()
    const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
    expect((await server.call('POST', '/v1/claims', claim)).status).toBe(201)
    // The promise is a second; a busy machine gets five here.
    expect(await timeToGo(server, dataDir, signal)).toBeLessThan(5000)
    expect(server.stderr()).toBe('')
  },
)

test.each(['1', '2'])(
  'a server of %s workers whose standard input ends drains when it was told to watch it',
  async (workers) => {
    const dataDir = await begunDataDir()
    const server = await startRanbook({
      RANBOOK_DATA_DIR: dataDir,
      RANBOOK_EXIT_WITH_STDIN: '1',
      RANBOOK_WORKERS: workers,
    })
    server.process.stdin?.end()
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(processesIn(dataDir)).toEqual([])
  },
)

test('a server that was not told to watch its standard input goes on without it', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
  server.process.stdin?.end()
  expect((await server.call('GET', '/readyz')).status).toBe(200)
  await timeToGo(server, dataDir)
})

test('waiting claims are answered at once when the server drains', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
  await server.call('POST', '/v1/claims', claim)
  const waiting = Promise.all(
    Array.from({ length: 20 }, () => server.call('POST', '/v1/claims', { ...claim, wait_ms: 30_000 })),
  )
  await vi.waitUntil(async () => (await metric(server, 'ranbook_claims_waiting')) === 20)
  expect(await timeToGo(server, dataDir)).toBeLessThan(10_000)
  for (const { status, body } of await waiting) expect([status, body['outcome']]).toEqual([409, 'in_progress'])
})

test('a request in flight is finished, and its duplicates are tallied, before the server ends', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
  const { body } = await server.call('POST', '/v1/claims', claim)
  await server.call('POST', `/v1/claims/${body['id']}/complete`, { claim_token: body['claim_token'] })
  for (let delivery = 0; delivery < 5; delivery++) await server.call('POST', '/v1/claims', claim)

  // Half a request is in flight: its body is on the way while the server is told to end.
  const text = JSON.stringify({ claim_token: body['claim_token'] })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    received += part
  })
  const head = [
    `POST /v1/claims/${body['id']}/complete HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${testAdminKey}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${text.slice(0, 5)}`)
  await vi.waitUntil(async () => (await metric(server, 'ranbook_http_requests_in_flight')) === 2)
  server.process.kill('SIGTERM')
  await vi.waitUntil(() => refusesConnections(server))
  socket.write(text.slice(5))
  await once(socket, 'close')
  expect(received).toMatch(/^HTTP\/1\.1 200 /)
  expect(received.toLowerCase()).toContain('connection: close')
  expect(await server.ended).toEqual({ code: 0, signal: null })

  const next = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
  const { body: record } = await next.call('GET', `/v1/records/${body['id']}`)
  expect(record['duplicates']).toMatchObject({ count: 5 })
  await timeToGo(next, dataDir)
})

test('a second signal ends a draining server at once, and its database with it', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('POST /v1/claims HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n')
  socket.write(`Authorization: Bearer ${testAdminKey}\r\n\r\n{`)
  await vi.waitUntil(async () => (await metric(server, 'ranbook_http_requests_in_flight')) === 2)
  server.process.kill('SIGTERM')
  await vi.waitUntil(() => refusesConnections(server))
  server.process.kill('SIGTERM')
  expect((await server.ended).code).toBe(1)
  await vi.waitUntil(() => processesIn(dataDir).length === 0, { timeout: 10_000 })
})

test('a server whose database recovers ends with its database when it is told to, and waits for no limit', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
  await recoverEndlessly(dataDir)
  await killHard(processesIn(dataDir))
  const answer = async (): Promise<string> => (await fetch(`${server.url}/readyz`)).text()
  await vi.waitUntil(async () => (await answer()).includes('"ready":false'))
  await vi.waitUntil(() => processesIn(dataDir).length > 0, { timeout: 10_000 })
  await timeToGo(server, dataDir)
  expect(server.stderr()).not.toContain('took too long')
})

test('a database that does not end holds a server for ten seconds, no longer', async () => {
  const dataDir = await begunDataDir()
  const server = await startRanbook({ RANBOOK_DATA_DIR: dataDir })
  const held = processesIn(dataDir)
  for (const pid of held) process.kill(pid, 'SIGSTOP')
  onTestFinished(() => {
    for (const pid of processesIn(dataDir)) process.kill(pid, 'SIGCONT')
  })
  const from = performance.now()
  server.process.kill('SIGTERM')
  expect(await server.ended).toEqual({ code: 0, signal: null })
  // A busy machine gets five more; without the limit it takes twenty.
  expect(performance.now() - from).toBeLessThan(15_000)
  expect(server.stderr()).toContain('The end took too long')
})

async function metric(server: Ranbook, name: string): Promise<number | undefined> {
  const response = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${testAdminKey}` },
  })
  const line = (await response.text()).split('\n').find((text) => text.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.split(' ')[1])
}

async function refusesConnections(server: Ranbook): Promise<boolean> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}
