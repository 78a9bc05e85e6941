import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type HttpServer, startHttpServer } from '../../src/process/http-server.ts'
import { StartRefused } from '../../src/process/start-refused.ts'

async function listening(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  stalledAfterMs = 60_000,
): Promise<HttpServer> {
  const newRequestId = () => 'the-request-id'
  const server = await startHttpServer({ host: '127.0.0.1', port: 0, handle, newRequestId, stalledAfterMs })
  onTestFinished(async () => {
    server.stopAccepting()
    await server.finish(0)
  })
  return server
}

/** Sends text on a new connection and reads until the server closes it. */
async function exchange(port: number, text: string): Promise<{ head: string; body: string }> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    received += part
  })
  socket.write(text)
  await once(socket, 'close')
  const [head = '', body = ''] = received.split('\r\n\r\n')
  return { head, body }
}

const answer = (_: IncomingMessage, response: ServerResponse): void => void response.end('ok')

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', 400, 'invalid_request'],
  ['a broken header', 'GET / HTTP/1.1\r\nno colon\r\n\r\n', 400, 'invalid_request'],
  ['a head beyond 16 KiB', `GET / HTTP/1.1\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`, 413, 'payload_too_large'],
])('%s is answered with a problem document and the connection is closed', async (_, text, status, code) => {
  const { port } = await listening(answer)
  const { head, body } = await exchange(port, text)
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(head.toLowerCase()).toContain('content-type: application/problem+json')
  expect(head).toContain('the-request-id')
  expect(JSON.parse(body)).toMatchObject({ status, code, request_id: 'the-request-id' })
})

test('a head that does not arrive is given up with 408', async () => {
  const { port } = await listening(answer)
  const { head, body } = await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 408 /)
  expect(JSON.parse(body)).toMatchObject({ code: 'request_timeout' })
})

test('while it drains, what is in flight is finished and told to close, and nobody new gets in', async () => {
  const open: ServerResponse[] = []
  const server = await listening((_, response) => void open.push(response))
  const agent = new Agent({ keepAlive: true })
  const answered = once(get({ port: server.port, agent }), 'response') as Promise<[IncomingMessage]>
  await vi.waitUntil(() => open.length === 1)
  expect(server.requestsInFlight()).toBe(1)

  server.stopAccepting()
  let finished = false
  const cut = server.finish(20_000).then((count) => {
    finished = true
    return count
  })
  await expect(exchange(server.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).rejects.toThrow('ECONNREFUSED')
  expect(finished).toBe(false)

  open[0]?.end('done')
  const [response] = await answered
  expect(response.headers.connection).toBe('close')
  response.resume()
  expect(await cut).toBe(0)
})

test('what is still in flight at the end of the time is cut and counted', async () => {
  const open: ServerResponse[] = []
  const server = await listening((_, response) => void open.push(response))
  const failed = once(get({ port: server.port }), 'error')
  await vi.waitUntil(() => open.length === 1)
  server.stopAccepting()
  expect(await server.finish(1)).toBe(1)
  await failed
})

test('an idle connection does not hold up a drain', async () => {
  const server = await listening(answer)
  const socket = connect(server.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  server.stopAccepting()
  expect(await server.finish(60_000)).toBe(0)
  await once(socket, 'close')
})

test('a port that is taken and an address that is not of this machine are refused with a sentence', async () => {
  const { port } = await listening(answer)
  const start = (host: string): Promise<HttpServer> =>
    startHttpServer({ host, port, handle: answer, newRequestId: () => 'id' })
  await expect(start('127.0.0.1')).rejects.toThrow(StartRefused)
  await expect(start('127.0.0.1')).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use by another program`)
  await expect(start('192.0.2.1')).rejects.toThrow('HOST 192.0.2.1 is not an address of this machine')
})

test('requests whose connection closed before their turn came are not in flight for ever', async () => {
  // The first is never answered, so that the others wait behind it.
  let begun = 0
  const server = await listening((_, response) => {
    begun += 1
    if (begun > 1) response.end('ok')
  })
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5))
  await vi.waitUntil(() => begun === 5)
  expect(server.requestsInFlight()).toBe(5)
  socket.resetAndDestroy()
  await vi.waitUntil(() => server.requestsInFlight() === 0)
  server.stopAccepting()
  expect(await server.finish(60_000)).toBe(0)
})

test('an expectation that nobody knows is ignored, so that the answer has a body', async () => {
  const { port } = await listening(answer)
  const { head } = await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\nExpect: foo\r\nConnection: close\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 200 /)
})

test('a client that does not read its answer is given up, and what it asked for is over', async () => {
  const open: ServerResponse[] = []
  const server = await listening((_, response) => void open.push(response), 2000)
  const socket = connect(server.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await vi.waitUntil(() => open.length === 1)
  const [response] = open
  const closed = once(response as ServerResponse, 'close')
  // More than what the two sockets hold between them.
  response?.write(Buffer.alloc(64 * 1024 * 1024))
  await closed
  expect(response?.writableFinished).toBe(false)
  expect(server.requestsInFlight()).toBe(0)
})
