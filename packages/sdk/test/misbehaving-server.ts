import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

/** A request as it came in. */
export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

/** What the server does with a request; `attempt` counts from 1. */
export type Answer = (response: ServerResponse, seen: Seen, attempt: number) => void

/** A server on a free port that answers as told, for one test. */
export async function misbehavingServer(answer: Answer): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    request.setEncoding('utf8')
    let body = ''
    for await (const part of request) body += part
    const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
    seen.push(one)
    answer(response, one, seen.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { url: `http://127.0.0.1:${address.port}`, seen }
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

/** Answers with a problem of this code. */
export function problem(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  const document = {
    type: 'about:blank',
    title: 'a title',
    status,
    code,
    detail: `the detail of ${code}`,
    request_id: 'req-1',
  }
  json(response, status, document, { 'content-type': 'application/problem+json', ...headers })
}
