import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { checkTarget } from './check-target.ts'
import { failureReason } from './failure-reason.ts'
import { type PinnedAddress, sendPinned } from './send-pinned.ts'
import type { TargetRules } from './target-rules.ts'

/** A receiver that needs longer should answer first and work then. Covers the name, the connection and the answer. */
const answerWithinMs = 5000

/** What a post needs. `now`: ms since 1970, for the signature, which receivers take within five minutes of their clock. */
export type PostDeps = {
  rules: TargetRules
  now: () => number
  /** All addresses of a name; by default as every program of this machine resolves it. */
  resolve?: (host: string) => Promise<readonly PinnedAddress[]>
  /** In all. */
  timeoutMs?: number
}

/** One message. The `id` is the same on every try, as the receiver tells repetitions by it. */
export type SignedPost = {
  url: string
  /** `whsec_…`, see `webhookSecretField`. */
  secret: string
  id: string
  contentType: string
  body: string
  /** Sent besides; ASCII. */
  headers: Readonly<Record<string, string>>
}

/** `refused`: may not be sent there, so no later try can succeed. `failed`: a later one may. Reasons are short and plain. */
export type PostOutcome =
  | { kind: 'delivered'; status: number }
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; status: number | null; reason: string }

/**
 * Posts a message once, with the signature of Standard Webhooks. The name is resolved once, all its addresses are
 * judged, and the connection is made to one of these and no other. Delivered is what was answered with 2xx: redirects
 * are not followed, the answer's body is not looked at. Never throws for what the peer or its name does.
 *
 * @throws when the secret is none
 */
export async function postSigned(deps: PostDeps, post: SignedPost): Promise<PostOutcome> {
  const target = checkTarget(deps.rules, post.url)
  if (target.kind === 'refused') return target
  const { url, host } = target
  const headers = signedHeaders(post, deps.now())

  const timeoutMs = deps.timeoutMs ?? answerWithinMs
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const addresses = await addressesOf(host, deps.resolve ?? resolveAll, deadline)
    const reason = deps.rules.refusal(
      host,
      addresses.map(({ address }) => address),
    )
    if (reason !== null) return { kind: 'refused', reason }
    return outcomeOf(await sendPinned({ url, host, addresses, headers, body: post.body, deadline }))
  } catch (error) {
    const reason = deadline.aborted ? `no answer within ${timeoutMs} ms` : failureReason(error)
    return { kind: 'failed', status: null, reason }
  }
}

function signedHeaders(post: SignedPost, nowMs: number): Record<string, string> {
  const timestamp = new Date(nowMs)
  return {
    ...post.headers,
    'content-type': post.contentType,
    'user-agent': 'Ranbook',
    'webhook-id': post.id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': new Webhook(post.secret).sign(post.id, timestamp, post.body),
  }
}

function resolveAll(host: string): Promise<PinnedAddress[]> {
  return lookup(host, { all: true })
}

async function addressesOf(
  host: string,
  resolve: (host: string) => Promise<readonly PinnedAddress[]>,
  deadline: AbortSignal,
): Promise<readonly PinnedAddress[]> {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener('abort', () => reject(deadline.reason), { once: true })
  })
  const addresses = await Promise.race([resolve(host), late])
  if (addresses.length === 0) throw Object.assign(new Error('The name has no address'), { code: 'ENOTFOUND' })
  return addresses
}

function outcomeOf(status: number): PostOutcome {
  if (status >= 200 && status <= 299) return { kind: 'delivered', status }
  const isRedirect = status >= 300 && status <= 399
  return { kind: 'failed', status, reason: `status ${status}${isRedirect ? ', and redirects are not followed' : ''}` }
}
