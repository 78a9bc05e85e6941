import type { ServerResponse } from 'node:http'
import type { Answered } from './serve-route.ts'
import { nextChunk } from './stream-texts.ts'

/**
 * Writes an answer to node's own response. Texts that are made as they are read are waited for, and so is a slow reader;
 * what fits into one chunk is written at once. Where a text can't be made the answer is cut off. A reader that leaves ends
 * the making of texts, after the one that is being made.
 */
export async function writeAnswer(response: ServerResponse, { status, headers, body, done }: Answered): Promise<void> {
  if (typeof body === 'string') {
    done(null)
    writeText(response, status, headers, body)
  } else if (body === null || body instanceof Uint8Array) {
    done(null)
    response.writeHead(status, body === null ? headers : { ...headers, 'content-length': body.length }).end(body)
  } else {
    let fault: { error: unknown } | null = null
    try {
      await writeTexts(response, status, headers, body)
    } catch (error) {
      fault = { error }
      response.destroy()
    }
    done(fault)
  }
}

function writeText(response: ServerResponse, status: number, headers: Record<string, string>, text: string): void {
  const bytes = Buffer.byteLength(text)
  headers['content-length'] = String(bytes)
  // Nearly every answer is ASCII, which needs no encoding.
  response.writeHead(status, headers).end(text, bytes === text.length ? 'latin1' : 'utf8')
}

async function writeTexts(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  texts: AsyncGenerator<string>,
): Promise<void> {
  let chunk = await nextChunk(texts)
  if (chunk.done) return writeText(response, status, headers, chunk.text)
  response.writeHead(status, headers)
  while (!isGone(response)) {
    if (chunk.done) {
      response.end(chunk.text)
      return
    }
    if (!response.write(chunk.text)) await roomOf(response)
    if (!isGone(response)) chunk = await nextChunk(texts)
  }
  await texts.return(undefined)
}

/** A response that waits behind others of its connection is not told itself that the connection closed. */
function isGone({ destroyed, req }: ServerResponse): boolean {
  return destroyed || req.socket.destroyed
}

/** Resolves when the reader took what was written, or is gone. */
function roomOf(response: ServerResponse): Promise<void> {
  if (isGone(response) || !response.writableNeedDrain) return Promise.resolve()
  const { socket } = response.req
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go)
      socket.off('close', go)
      resolve()
    }
    response.once('drain', go)
    socket.once('close', go)
  })
}
