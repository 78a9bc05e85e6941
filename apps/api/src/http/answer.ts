/** What a handler answers; `serveRoute` turns it into a response and adds what every answer carries. */
export type Answer = {
  status: number
  headers: Record<string, string>
  /** Texts of a generator are made as the answer is read. */
  body: string | Uint8Array<ArrayBuffer> | AsyncGenerator<string> | null
}

/** An answer of `application/json`. `text` is JSON text already; `headers` are added to the content type. */
export function jsonAnswer(text: string, status = 200, headers?: Record<string, string>): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: text }
}
