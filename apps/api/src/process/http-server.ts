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
/**
 * A connection on which nothing moves for so long in the middle of a request is closed: who does not read its answer
 * holds what the answer is made from. Twice the longest wait of a claim, in which nothing moves either.
 */
const stallLimitMs = 60_000
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
  /** 60 s unless said otherwise. */
  stalledAfterMs?: number
}

/**
 * Listens, with time-outs for slow senders and a problem document for what is not HTTP.
 *
 * @throws StartRefused when the port is taken or may not be listened on.
 */
export async function startHttpServer(deps: HttpServerDeps): Promise<HttpServer> {
  const { host, port, handle, newRequestId, stalledAfterMs = stallLimitMs } = deps
  // By connection: a response that waits behind others of its connection is never told that the connection closed.
  const inFlight = new Map<Duplex, Set<ServerResponse>>()
  let requests = 0
  let accepting = true
  let becameIdle = (): void => {}

  const server = createServer({
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    maxHeaderSize: maxHeaderBytes,
    // Node's own refusal has no body; `handle` refuses it.
    requireHostHeader: false,
    // Claims are small answers to small requests; waiting to fill a packet would cost them 40 ms.
    noDelay: true,
  })
  const left = (count: number): void => {
    requests -= count
    if (requests === 0) becameIdle()
  }
  server.on('connection', (socket) => {
    const open = new Set<ServerResponse>()
    inFlight.set(socket, open)
    socket.once('close', () => {
      inFlight.delete(socket)
      const cut = open.size
      open.clear()
      left(cut)
    })
  })
  server.timeout = stalledAfterMs
  server.on('request', (request, response) => {
    const open = inFlight.get(request.socket)
    // Read from the buffer of a connection that is gone: nobody can be answered.
    if (open === undefined) return
    open.add(response)
    requests += 1
    if (!accepting) response.shouldKeepAlive = false
    response.once('close', () => {
      if (open.delete(response)) left(1)
    })
    handle(request, response)
  })
  // An expectation that nobody knows may be ignored; refused by Node, it would have no body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answering = [...(inFlight.get(socket) ?? [])].some((response) => response.headersSent)
    if (answering || !socket.writable) socket.destroy()
    else refuse(socket, error.code, newRequestId())
  })
  await listen(server, host, port)

  return {
    port: (server.address() as AddressInfo).port,
    requestsInFlight: () => requests,
    stopAccepting: () => {
      accepting = false
      for (const open of inFlight.values()) {
        for (const response of open) if (!response.headersSent) response.shouldKeepAlive = false
      }
      server.close()
    },
    finish: async (limitMs) => {
      if (requests > 0) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((resolve) => {
          becameIdle = resolve
          timer = setTimeout(resolve, limitMs)
        })
        clearTimeout(timer)
      }
      const cut = requests
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
  const { code, detail } = refusal(parserCode)
  const { status } = errorCodes[code]
  const body = problemJson(new HttpProblem(code, detail), requestId)
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

function refusal(parserCode: string | undefined): { code: ErrorCode; detail: string } {
  switch (parserCode) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout', detail: errorCodes.request_timeout.meaning }
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return {
        code: 'payload_too_large',
        detail: `Headers of more than ${maxHeaderBytes} bytes are not read; send fewer.`,
      }
    default:
      return {
        code: 'invalid_request',
        detail: 'This is not valid HTTP/1.1; look at the request line, headers and framing.',
      }
  }
}
