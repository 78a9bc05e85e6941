import { type ClientRequest, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'

/** An address to connect to; `family` is 4 or 6. */
export type PinnedAddress = { address: string; family: number }

/** A POST whose addresses are known already. `host`: that of `url` without brackets. `headers`: ASCII. */
export type PinnedPost = {
  url: URL
  host: string
  /** At least one. Tried in turn until one takes the connection. */
  addresses: readonly PinnedAddress[]
  headers: Readonly<Record<string, string>>
  body: string
  deadline: AbortSignal
}

// Small answers are taken in, so that the connection ends in order; a larger one is cut off.
const answerMaxBytes = 64 * 1024

// Node's own 250 ms would give up on every address of a host that is far away.
const connectEachWithinMs = 1500

/**
 * Posts to one of the addresses over a connection of its own and resolves to the answer's status once the connection is
 * closed. Host and TLS name stay those of the URL. Knows no proxy, follows no redirect and throws the answer's body away.
 *
 * @throws the error of the connection where no answer came
 */
export function sendPinned(post: PinnedPost): Promise<number> {
  return new Promise((resolve, reject) => {
    let status: number | null = null
    let failure: unknown = null
    const request = open(post)
    request.on('error', (error) => {
      failure = error
    })
    request.on('response', (response) => {
      status = response.statusCode ?? 0
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > answerMaxBytes) response.destroy()
      })
      // The status is known: whatever ends the body early changes nothing.
      response.on('error', () => {})
    })
    request.on('close', () => (status === null ? reject(failure) : resolve(status)))
    request.end(post.body)
  })
}

function open({ url, host, addresses, headers, deadline }: PinnedPost): ClientRequest {
  const options = {
    method: 'POST',
    headers,
    signal: deadline,
    // Not the shared agent: that one may keep connections, and take a proxy from the environment.
    agent: false as const,
    lookup: lookupPinned(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: connectEachWithinMs,
  }
  if (url.protocol === 'http:') return requestHttp(url, options)
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : ''
  return requestHttps(url, { ...options, servername, rejectUnauthorized: true })
}

/** Answers every question for an address with those judged before, so that no second look at the name can differ. */
function lookupPinned(addresses: readonly PinnedAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses
    if (all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}
