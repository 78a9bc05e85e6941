import type { Route } from '@ranbook/contract'
import { HttpProblem } from './problem.ts'

/**
 * Requests in flight, waiting ones included, at which newcomers are refused, the dearest work first: pages and reports,
 * then new claims, last those who settle and so make room. Far above what 1 000 waiters and 1 000 racers need; a
 * request in flight holds a few KiB beside its body.
 */
const maxInFlight = { first: 2000, claims: 3000, last: 4000 } as const

/**
 * Of all bodies in flight together: eight of the largest batches. Above it memory would not stay level. A quarter is
 * for those who settle.
 */
const maxBodyBytesInFlight = 64 * 1024 * 1024
const maxBodyBytesOfOthers = 48 * 1024 * 1024

/** What a process has taken on and not answered yet. One per app; counted up and down by `answerRequest`. */
export type Load = { requests: number; bodyBytes: number }

/** Throws `overloaded` where a request of this shedding class, which is counted already, finds too many before it. */
export function requireRoom(load: Load, shed: 'first' | 'claims' | 'last'): void {
  if (load.requests > maxInFlight[shed]) {
    throw new HttpProblem('overloaded', 'Too many requests are in flight here. Repeat after Retry-After.')
  }
}

/** Throws `overloaded` where `bytes` more of bodies would not fit into memory; else the caller may add them. */
export function requireBodyRoom(load: Load, shed: Route['shed'], bytes: number): void {
  const maxBytes = shed === 'last' ? maxBodyBytesInFlight : maxBodyBytesOfOthers
  if (load.bodyBytes + bytes > maxBytes) {
    throw new HttpProblem('overloaded', 'Too many large bodies are in flight here. Repeat after Retry-After.')
  }
}
