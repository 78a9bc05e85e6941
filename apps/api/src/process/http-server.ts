import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ErrorCode, errorCodes } from '@ranbook/contract'
import { HttpProblem, problemJson } from '../http/problem.ts'
import { StartRefused } from './start-refused.ts'

// Above the 60 s that proxies commonly keep a connection for: the proxy closes first, never in the middle of a request.
const keepAliveTimeoutMs = 75_000
/** A head is one packet or two; who needs longer is holding the connection on purpose. */
const headersTimeoutMs = 10_000
/** 8 MiB, the largest body, at 2.2 Mbit/s. */
const requestTimeoutMs = 30_000
/** How late the two time-outs above may be noticed. */
const timeoutCheckMs = 1000
/** Node's default, fixed here because the code of its refusal is part of the contract. */
const maxHeaderBytes = 16 * 1024

export type HttpServer = {
  /** Where it listens, which is what was asked for unless that was 0. */
  port: number
  requestsInFlight(): number
  /** Takes no new connection, and answers what comes on open ones with `Connection: close`. Returns at once. */
  stopAccepting(): void
  /** Resolves when nothing is in flight, or after `limitMs`; then every connection is closed. Returns what was cut. */
  finish(limitMs: number): Promise<number>
}

export type HttpServerDeps = {
  host: string
  port: number
  handle: (request: IncomingMessage, response: ServerResponse) => unknown
  newRequestId: () => string
}

/**
 * Listens, with time-outs for slow senders and a problem document for what is not HTTP.
 *
 * @throws StartRefused when the port is taken or may not be listened on.
 */
export async function startHttpServer({ host, port, handle, newRequestId }: HttpServerDeps): Promise<HttpServer> {
  const inFlight = new Set<ServerResponse>()
  let accepting = true
  let becameIdle = (): void => {}

  const server = createServer({
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    maxHeaderSize: maxHeaderBytes,
    // Claims are small answers to small requests; waiting to fill a packet would cost them 40 ms.
    noDelay: true,
  })
  server.on('request', (request, response) => {
    inFlight.add(response)
    if (!accepting) response.shouldKeepAlive = false
    response.once('close', () => {
      inFlight.delete(response)
      if (inFlight.size === 0) becameIdle()
    })
    handle(request, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answering = [...inFlight].some((response) => response.socket === socket && response.headersSent)
    if (answering || !socket.writable) socket.destroy()
    else refuse(socket, error.code, newRequestId())
  })
  await listen(server, host, port)

  return {
    port: (server.address() as AddressInfo).port,
    requestsInFlight: () => inFlight.size,
    stopAccepting: () => {
      accepting = false
      for (const response of inFlight) if (!response.headersSent) response.shouldKeepAlive = false
      server.close()
    },
    finish: async (limitMs) => {
      if (inFlight.size > 0) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((resolve) => {
          becameIdle = resolve
          timer = setTimeout(resolve, limitMs)
        })
        clearTimeout(timer)
      }
      const cut = inFlight.size
      server.closeAllConnections()
      return cut
    },
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new StartRefused(listenFault(cause, host, port), { cause })
  }
}

function listenFault(cause: unknown, host: string, port: number): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use by another program. Stop it, or set PORT to a free one.`
    case 'EACCES':
      return `This user may not listen on port ${port}. Set PORT to one of 1024 or above.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return `HOST ${host} is not an address of this machine. Set HOST to one that is, or to 0.0.0.0 for all of them.`
    default:
      return `The server can't listen on port ${port} of ${host}: ${String(cause)}.`
  }
}

/** Answers what could not be read as a request, and closes the connection. */
function refuse(socket: Duplex, parserCode: string | undefined, requestId: string): void {
  const code = refusalCode(parserCode)
  const { status, meaning } = errorCodes[code]
  const body = problemJson(new HttpProblem(code, meaning), requestId)
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      '',
      body,
    ].join('\r\n'),
  )
}

function refusalCode(parserCode: string | undefined): ErrorCode {
  switch (parserCode) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request_timeout'
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 'payload_too_large'
    default:
      return 'invalid_request'
  }
}
