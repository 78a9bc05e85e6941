/** What a handler answers; `serveRoute` turns it into a response and adds what every answer carries. */
export type Answer = {
  status: number
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
}

/** An answer of `application/json`. `text` is JSON text already; `headers` are added to the content type. */
export function jsonAnswer(text: string, status = 200, headers?: Record<string, string>): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: text }
}
