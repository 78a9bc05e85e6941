import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** One request as the target received it. */
type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string }

/** A target on loopback, closed when the test that started it is over. */
export type TargetServer = {
  readonly port: number
  readonly received: readonly Received[]
  /** How many connections were ever made to it. */
  readonly connections: () => number
}

/** Starts a target that speaks HTTP and answers as told. */
export async function startTarget(answer: (response: ServerResponse) => void): Promise<TargetServer> {
  const received: Received[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() })
      answer(response)
    })
  })
  server.on('connection', () => {
    connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, received, connections: () => connections }
}

/** Starts a target that does as it likes with the connection; the first bytes of the request are there already. */
export async function startRawTarget(answer: (socket: Socket) => void): Promise<{ port: number }> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      answer(socket)
      socket.resume()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}
