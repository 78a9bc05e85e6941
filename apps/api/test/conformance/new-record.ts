import { randomUUID } from 'node:crypto'
import {
  type Change,
  type ClaimRequest,
  type Details,
  type LedgerRecord,
  type NewRecord,
  recordDigest,
} from '@ranbook/rules'

/** Details that nobody gave. */
export const noDetails: Details = { payload: null, refs: null, source: null, seq: null, occurredAt: null }

/** A claim of a key of its own, unless the fields say which. The token is fresh. */
export function claimRequest(fields: Partial<Omit<ClaimRequest, 'digest'>> = {}): ClaimRequest {
  const consumer = fields.consumer ?? 'billing-worker'
  const className = fields.class ?? 'refund.issued'
  const key = fields.key ?? `order:${randomUUID()}`
  return {
    claimToken: randomUUID(),
    owner: null,
    leaseMs: null,
    fingerprint: null,
    details: noDetails,
    ...fields,
    digest: recordDigest(consumer, className, key),
    class: className,
    consumer,
    key,
  }
}

/** A record to be inserted, granted for a minute under `retry` unless said otherwise. */
export function newRecord(
  fields: Parameters<typeof claimRequest>[0] & { onLeaseExpiry?: NewRecord['onLeaseExpiry'] } = {},
): NewRecord {
  const { onLeaseExpiry = 'retry', ...claim } = fields
  return { request: claimRequest(claim), leaseMs: claim.leaseMs ?? 60_000, onLeaseExpiry, window: null }
}

/** A change of the record as it stands, that only the store looks at: no rule was asked. */
export function changeOf(standing: LedgerRecord, fields: Partial<LedgerRecord>, more: Partial<Change> = {}): Change {
  return {
    expectVersion: standing.version,
    record: { ...standing, version: standing.version + 1, ...fields },
    grants: false,
    archive: null,
    fill: null,
    audit: null,
    ...more,
  }
}

/** A change that ends the attempt as failed, to be granted again at once. */
export function failing(standing: LedgerRecord, more: Partial<Change> = {}): Change {
  const endedAt = standing.claimedAt
  return changeOf(
    standing,
    { state: 'failed', leaseExpiresAt: null, sweepAt: null, endedAt, availableAt: endedAt, error: '{"message":"no"}' },
    more,
  )
}

/** A change that grants the record to a fresh token and archives the attempt it displaces. */
export function granting(standing: LedgerRecord, more: Partial<Change> = {}): Change {
  const { digest, fencingToken, generation, attempt, claimToken, owner, claimedAt, leaseExpiresAt, endedAt } = standing
  const now = standing.claimedAt + 1
  return changeOf(
    standing,
    {
      state: 'claimed',
      cause: null,
      attempt: attempt + 1,
      claimToken: randomUUID(),
      owner: 'next',
      claimedAt: now,
      leaseExpiresAt: now + 60_000,
      sweepAt: now + 60_000,
      endedAt: null,
      availableAt: null,
      result: null,
      error: null,
    },
    {
      grants: true,
      archive: {
        ...{ digest, fencingToken, generation, attempt, claimToken, owner, claimedAt, leaseExpiresAt, endedAt },
        end: 'failed',
        error: standing.error,
        result: standing.result,
      },
      ...more,
    },
  )
}
