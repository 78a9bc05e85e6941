import type { IncomingMessage } from 'node:http'
import { limits } from '@ranbook/contract'
import { type JsonShape, readJson, TooManyItems } from '@ranbook/rules'
import { type Call, requestHeader } from './call.ts'
import { heldBytes } from './held-bytes.ts'
import { requireBodyRoom } from './load.ts'
import { HttpProblem } from './problem.ts'
import { invalidRequest } from './validate.ts'

export type BodyOptions = {
  /** 1 MiB unless said otherwise. */
  maxBytes?: number
  /** The members that stay text, see `readJson`. */
  shape?: JsonShape
}

const nothingOpaque: JsonShape = {}

/** So small a body is what it holds, near enough. */
const countedAsRead = 4096

/**
 * The request's body as exact JSON. Throws an `HttpProblem`: 415 for another type, charset or an encoding, 413 as soon
 * as more than `maxBytes` were announced or came, 400 `invalid_json` for anything that is not one well-formed value,
 * an absent body included, `invalid_request` for a list that is too long, 503 where too many bodies are in memory already.
 * What counts as in memory from then on is what was read, not the body it was read from.
 */
export async function readJsonBody(call: Call, options: BodyOptions = {}): Promise<unknown> {
  const maxBytes = options.maxBytes ?? limits.bodyMaxBytes
  requireJson(call)
  const bytes = await readBytes(call, maxBytes)
  const reading = readJson(bytes, options.shape ?? nothingOpaque)
  if (reading instanceof TooManyItems) throw invalidRequest([{ path: reading.path, message: reading.detail }])
  if (!reading.ok) throw new HttpProblem(reading.code, reading.detail)
  if (bytes.length > countedAsRead) {
    const held = heldBytes(reading.value)
    call.load.bodyBytes += held - call.bodyBytes
    call.bodyBytes = held
  }
  return reading.value
}

/** Where a body may be left out: was one sent, or announced? */
export function hasBody(call: Call): boolean {
  const length = requestHeader(call.context, 'content-length')
  return requestHeader(call.context, 'content-type') !== undefined || (length !== undefined && length !== '0')
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?;?[ \t]*$/i

function requireJson(call: Call): void {
  const type = requestHeader(call.context, 'content-type')
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) {
    throw new HttpProblem('unsupported_media_type', 'Send the body with Content-Type: application/json, in UTF-8.')
  }
  const encoding = requestHeader(call.context, 'content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem('unsupported_media_type', 'Send the body as it is, without Content-Encoding.')
  }
}

function readBytes(call: Call, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(requestHeader(call.context, 'content-length') ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  const incoming = call.context.env?.incoming
  return incoming === undefined ? readStream(call, maxBytes) : readIncoming(call, incoming, maxBytes)
}

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem('payload_too_large', `The body may have at most ${maxBytes} bytes.`)
}

function takeChunk(call: Call, length: number, maxBytes: number): void {
  if (call.bodyBytes + length > maxBytes) throw tooLarge(maxBytes)
  requireBodyRoom(call.load, call.shed, length)
  call.bodyBytes += length
  call.load.bodyBytes += length
}

/** Straight from the socket's message: a web stream in between costs more than all the rest of reading. */
function readIncoming(call: Call, incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    const onData = (chunk: Buffer): void => {
      try {
        takeChunk(call, chunk.length, maxBytes)
        chunks.push(chunk)
      } catch (error) {
        // What still comes is read and dropped by the server, for a bounded time.
        incoming.off('data', onData)
        reject(error)
      }
    }
    const onCut = (): void => {
      // A complete message is closed too, after its end.
      if (!incoming.complete) reject(new HttpProblem('invalid_json', 'The body ended before it was complete.'))
    }
    incoming.on('data', onData).on('error', onCut).on('close', onCut)
    incoming.on('end', () => {
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
      // These functions live as long as the message does, which is until the answer.
      chunks = []
    })
  })
}

/** Where no socket is behind the request, as in `app.request()`. */
async function readStream(call: Call, maxBytes: number): Promise<Uint8Array> {
  const body = call.context.req.raw?.body
  const chunks: Uint8Array[] = []
  if (body) {
    for await (const chunk of body) {
      takeChunk(call, chunk.length, maxBytes)
      chunks.push(chunk)
    }
  }
  return Buffer.concat(chunks)
}
