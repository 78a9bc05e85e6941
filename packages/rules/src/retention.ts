import type { Policy } from '@ranbook/contract'

/** How long settled records of the ledger keep their details, and their key, in ms; null: for ever. */
export type Retention = Pick<Policy, 'details_retention_ms' | 'key_retention_ms'>

/** When a last attempt ended, in ms: after `from`, and not after `to`. */
export type EndedSpan = { from: number; to: number }

/** Settled records that ended after it are not due yet, in ms. 0, the beginning of time here: none is due. */
export function dueUntil(retentionMs: number | null, now: number): number {
  return retentionMs === null ? 0 : Math.max(0, now - retentionMs)
}

/**
 * Which settled records a retention makes due at `now` that another one (`present`) does not: to be erased, those that
 * still have details; to be forgotten, all. Null: none. What is forgotten is not erased before.
 */
export function newlyDue(
  present: Retention,
  future: Retention,
  now: number,
): { details: EndedSpan | null; keys: EndedSpan | null } {
  const forgotten = dueUntil(present.key_retention_ms, now)
  const keys = dueUntil(future.key_retention_ms, now)
  const erased = dueUntil(present.details_retention_ms, now)
  return {
    details: spanOf(Math.max(erased, forgotten, keys), dueUntil(future.details_retention_ms, now)),
    keys: spanOf(forgotten, keys),
  }
}

function spanOf(from: number, to: number): EndedSpan | null {
  return from < to ? { from, to } : null
}
