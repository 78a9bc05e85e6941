import { policySchema, resolutions } from '@ranbook/contract'
import { type ClaimRequest, type Details, type ResolveCommand, recordDigest, type SettleCommand } from '@ranbook/rules'
import type { SeededRandom } from './seeded-random.ts'

const backoff = { initial_ms: 1, factor: 2, max_ms: 8 }

/** Classes of random histories, named for what their policy says. */
export const historyPolicies = {
  'history.retry': policySchema.parse({ max_attempts: null, backoff }),
  'history.hold': policySchema.parse({ max_attempts: null, backoff, on_lease_expiry: 'hold' }),
  'history.two': policySchema.parse({ max_attempts: 2, backoff }),
  'history.hold.few': policySchema.parse({ max_attempts: 4, backoff, on_lease_expiry: 'hold' }),
} as const
export type HistoryClass = keyof typeof historyPolicies
const classes = Object.keys(historyPolicies) as HistoryClass[]

/** One thing that somebody asks of the ledger. */
export type Operation =
  | { do: 'claim'; request: ClaimRequest & { leaseMs: number } }
  | { do: 'settle'; digest: string; claimToken: string; command: SettleCommand }
  | { do: 'resolve'; digest: string; command: ResolveCommand }
  | { do: 'sweep' }
  | { do: 'tally'; digest: string; count: number }
  /** Until the lease of the record's claim is over. */
  | { do: 'wait'; digest: string }

/** Draws operations. Tokens and keys are shared by all who draw from one source. */
export type OperationSource = {
  draw(random: SeededRandom): Operation
  /** Tells which token is the record's current one, so that its owner can speak. */
  observe(record: { digest: string; claimToken: string }): void
}

/** Each key is asked about some thirty times, among four at once, before the next one takes its place. */
const keysAtOnce = 4
const drawsPerKey = 30

/** A source of operations on ever new keys of every class, by owners old and new. */
export function createOperationSource(name: string): OperationSource {
  let draws = 0
  let tokens = 0
  const current = new Map<string, string>()
  const spoken = new Map<string, string[]>()

  const identity = (at: number) => {
    const consumer = at % 2 ? 'billing-worker' : 'shipping-worker'
    const className = classes[at % classes.length] ?? 'history.retry'
    const key = `${name}:${at}`
    return { consumer, class: className, key, digest: recordDigest(consumer, className, key) }
  }

  function freshToken(digest: string): string {
    tokens += 1
    const token = `00000000-0000-4000-8000-${tokens.toString(16).padStart(12, '0')}`
    spoken.set(digest, [...(spoken.get(digest) ?? []), token])
    return token
  }

  function tokenOf(digest: string, random: SeededRandom, freshShare: number, currentShare: number): string {
    const known = spoken.get(digest) ?? []
    if (known.length === 0 || random.chance(freshShare)) return freshToken(digest)
    const owner = current.get(digest)
    return owner !== undefined && random.chance(currentShare) ? owner : random.pick(known)
  }

  return {
    draw(random) {
      const key = identity(Math.floor(draws / drawsPerKey) + random.below(keysAtOnce))
      draws += 1
      const { digest } = key
      const share = random.next()
      if (share < 0.38) {
        const claimToken = tokenOf(digest, random, 0.8, 0.5)
        const leaseMs = random.pick([1, 2, 4, 8, 60_000])
        const fingerprint = random.pick([null, { kind: 'given', value: 'a' } as const, computed('a'), computed('a')])
        const request = {
          ...key,
          claimToken,
          owner: random.pick([null, 'o-1', 'o-2']),
          leaseMs,
          details: detailsOf(random),
        }
        return { do: 'claim', request: { ...request, fingerprint: random.chance(0.04) ? computed('b') : fingerprint } }
      }
      if (share < 0.74) {
        return { do: 'settle', digest, claimToken: tokenOf(digest, random, 0.04, 0.7), command: commandOf(random) }
      }
      if (share < 0.82) {
        const decision = random.pick(['retry', 'retry', 'retry', ...resolutions] as const)
        const result = decision === 'completed' ? '{"by":"operator"}' : null
        return { do: 'resolve', digest, command: { decision, result, endLiveClaim: random.chance(0.4) } }
      }
      if (share < 0.87) return { do: 'sweep' }
      if (share < 0.89) return { do: 'tally', digest, count: 1 + random.below(5) }
      return { do: 'wait', digest }
    },

    observe({ digest, claimToken }) {
      current.set(digest, claimToken)
    },
  }
}

function computed(of: string) {
  return { kind: 'computed', value: `sha256:${of.repeat(64)}` } as const
}

function detailsOf(random: SeededRandom): Details {
  return {
    payload: random.pick([null, null, '{"n": 1}', 'null']),
    refs: random.pick([null, ['order:88'], ['order:89', 'cust']]),
    source: random.pick([null, 'billing']),
    seq: random.pick([null, '41', '9223372036854775807']),
    occurredAt: random.pick([null, 1_700_000_000_123]),
  }
}

function commandOf(random: SeededRandom): SettleCommand {
  switch (random.pick(['complete', 'fail', 'fail', 'extend', 'extend', 'release'] as const)) {
    case 'complete':
      return { verb: 'complete', result: random.pick([null, 'null', '{"n":1}', '{"n": 1.0}', '{"n":2}']) }
    case 'fail': {
      const error = random.pick(['{"message":"timed out"}', '{"message":"refused","code":"E1"}'])
      return { verb: 'fail', error, retryable: random.chance(0.95), retryAfterMs: random.pick([null, 0, 0, 3]) }
    }
    case 'extend':
      return { verb: 'extend', leaseMs: random.pick([1, 2, 8, null]) }
    case 'release':
      return { verb: 'release' }
  }
}
