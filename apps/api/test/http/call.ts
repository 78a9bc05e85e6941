import type { DecisionView, Problem, RecordView } from '@ranbook/contract'

/** Any answer's JSON, each member as if it were there: the test that reads it says what it must be. */
export type AnyJson = DecisionView &
  RecordView &
  Problem & { decisions: Items; results: Items; ok: boolean; record: RecordView; problem: Problem }

type Items = [AnyJson, AnyJson, AnyJson, AnyJson, AnyJson, AnyJson, AnyJson, ...AnyJson[]]

/** An answer with its body read; `json` is undefined where that is not JSON. */
export type Answered = { status: number; headers: Headers; text: string; json: AnyJson }

export type CallOptions = {
  /** Sent as JSON, unless it is a string or bytes already. */
  body?: unknown
  /** The API key's name; null sends none. */
  key?: string | null
  headers?: Record<string, string>
  signal?: AbortSignal
}

type App = { request(path: string, init: RequestInit): Response | Promise<Response> }

/** One request. `to` is an app, or the base URL of a server. */
export async function call(
  to: App | string,
  method: string,
  path: string,
  { body, key = 'all', headers = {}, signal }: CallOptions = {},
): Promise<Answered> {
  const init: RequestInit = {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: bodyOf(body) }),
    ...(signal === undefined ? {} : { signal }),
  }
  const response = await (typeof to === 'string' ? fetch(to + path, init) : to.request(path, init))
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parsed(text) as AnyJson }
}

function bodyOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string' || body instanceof Uint8Array) return body as string | Uint8Array<ArrayBuffer>
  return JSON.stringify(body)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
