/** How requests are sent. Every duration is a whole number of milliseconds. */
export type TransportOptions = {
  /** Where the service is, such as `http://127.0.0.1:8080` or `https://tools.example.com/ranbook`. */
  url: string
  /** `rbk_…`, or the admin key. */
  apiKey: string
  /** For one try, from the connection to the end of the answer. Default 5 000. */
  attemptTimeoutMs?: number
  /** For all tries and pauses of a call. Default 15 000. */
  deadlineMs?: number
  /** Tries after the first. Default 3; 0 means none. */
  retries?: number
  /** Default: the global `fetch`. */
  fetch?: typeof fetch
}

/** Options as they are used: checked, with defaults. */
export type ReadyTransportOptions = {
  /** Without a trailing slash. */
  base: string
  headers: Readonly<Record<string, string>>
  attemptTimeoutMs: number
  deadlineMs: number
  retries: number
  send: typeof fetch
}

/** A day: longer than anybody waits, and shorter than what timers can count. */
const longestMs = 86_400_000
/** Past it the deadline ends a call anyway. */
const mostRetries = 1000

/** Checks the options when the client is made, not at its first call. Throws `TypeError`; the key is in no message. */
export function readTransportOptions(given: TransportOptions): ReadyTransportOptions {
  const url = URL.canParse(given.url) ? new URL(given.url) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new TypeError('url must be the address of the service, such as http://127.0.0.1:8080')
  }
  // Checked here because fetch would refuse it with a message that quotes it.
  if (typeof given.apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(given.apiKey)) {
    throw new TypeError('apiKey must be an API key: visible ASCII characters, at least one')
  }
  return {
    base: url.href.replace(/\/+$/, ''),
    headers: { authorization: `Bearer ${given.apiKey}`, accept: 'application/json' },
    attemptTimeoutMs: wholeNumber('attemptTimeoutMs', given.attemptTimeoutMs ?? 5000, 1, longestMs),
    deadlineMs: wholeNumber('deadlineMs', given.deadlineMs ?? 15_000, 1, longestMs),
    retries: wholeNumber('retries', given.retries ?? 3, 0, mostRetries),
    send: given.fetch ?? fetch,
  }
}

function wholeNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new TypeError(`${name} must be a whole number from ${min} to ${max}; it is ${value}`)
}
