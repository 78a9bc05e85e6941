import type { ClaimRequest, LedgerRecord, ParsedRecordId, ReadOutcome, ReadRequest } from '@ranbook/rules'
import { type ClaimAnswer, claim } from './claim.ts'
import { groupBy } from './group-by.ts'
import { onlyAnswer } from './item-failure.ts'
import type { LedgerDeps } from './ledger-deps.ts'

/** Each holds a connection and a body; more would only be a queue of unknown length. */
const maxWaiters = 1000
/** How often everybody in the room is looked at: for the end of the time, a client that left, a shutdown. */
const roundMs = 25
/** A waiter's record is read after 25 ms, then ever less often: most changes come soon or late. */
const firstPollMs = 25
const pollGrowth = 1.5
const maxPollMs = 250

/** Where the claims of this process wait for records to change. */
export type WaitRoom = {
  /** A record was changed in this process: whoever waits for it decides again, without a poll. */
  wake(digest: string): void
  /** How many claims wait now. */
  waiting(): number
  /** Takes a place for one claim; false where all are taken. Every place is given back with `leave`. */
  enter(): boolean
  leave(): void
  /**
   * Resolves to `decide` once the record's version may have changed or `forMs` are over, and to `go` where the wait has
   * to end with the answer there is: the client is gone or the process shuts down. Rejects where the store can't be read.
   */
  untilChange(
    record: Pick<LedgerRecord, 'digest' | 'version' | 'window'>,
    forMs: number,
    isGone: () => boolean,
  ): Promise<'decide' | 'go'>
}

export type WaitRoomDeps = {
  /** Reads records where they stand, see `readById`. */
  read: (store: ParsedRecordId['store'], requests: readonly ReadRequest[]) => Promise<(ReadOutcome | null)[]>
  draining: () => boolean
  /** In [0, 1); spreads the polls. */
  random: () => number
}

type Waiter = {
  digest: string
  store: ParsedRecordId['store']
  version: number
  endsAt: number
  pollAt: number
  pollMs: number
  isGone: () => boolean
  resolve: (next: 'decide' | 'go') => void
  reject: (error: unknown) => void
}

/**
 * A settle in this process wakes its waiters from memory; changes made elsewhere are found by reading all records that
 * are due in one statement per round. Costs nothing while nobody waits.
 */
export function createWaitRoom({ read, draining, random }: WaitRoomDeps): WaitRoom {
  const waiters = new Map<string, Set<Waiter>>()
  let places = 0
  let timer: NodeJS.Timeout | null = null
  let polling = false

  function remove(waiter: Waiter): void {
    const others = waiters.get(waiter.digest)
    others?.delete(waiter)
    if (others?.size === 0) waiters.delete(waiter.digest)
  }

  function release(waiter: Waiter, next: 'decide' | 'go'): void {
    remove(waiter)
    waiter.resolve(next)
  }

  function schedule(): void {
    if (timer !== null || waiters.size === 0) return
    const now = performance.now()
    let nextAt = now + roundMs
    for (const set of waiters.values()) for (const { endsAt } of set) nextAt = Math.min(nextAt, endsAt)
    timer = setTimeout(() => {
      timer = null
      lookAround()
      schedule()
    }, nextAt - now)
  }

  function lookAround(): void {
    const now = performance.now()
    const leaving = draining()
    const due: Waiter[] = []
    for (const waiter of [...waiters.values()].flatMap((set) => [...set])) {
      if (leaving || waiter.isGone()) release(waiter, 'go')
      else if (waiter.endsAt <= now) release(waiter, 'decide')
      else if (waiter.pollAt <= now) due.push(waiter)
    }
    if (due.length > 0 && !polling) void poll(due)
  }

  async function poll(due: readonly Waiter[]): Promise<void> {
    polling = true
    try {
      const versions = new Map<string, number | undefined>()
      for (const [store, waiting] of groupBy(due, (waiter) => waiter.store)) {
        const digests = [...new Set(waiting.map(({ digest }) => digest))]
        const found = await read(
          store,
          digests.map((digest) => ({ digest, claimToken: null })),
        )
        for (const [index, digest] of digests.entries()) versions.set(digest, found[index]?.record.version)
      }
      for (const waiter of due) {
        if (versions.get(waiter.digest) !== waiter.version) release(waiter, 'decide')
        else postpone(waiter)
      }
    } catch (error) {
      for (const waiter of due) {
        remove(waiter)
        waiter.reject(error)
      }
    } finally {
      polling = false
    }
  }

  function postpone(waiter: Waiter): void {
    waiter.pollMs = Math.min(maxPollMs, waiter.pollMs * pollGrowth)
    waiter.pollAt = performance.now() + waiter.pollMs * (1 - random() / 4)
  }

  return {
    wake(digest) {
      for (const waiter of [...(waiters.get(digest) ?? [])]) release(waiter, 'decide')
    },
    waiting: () => places,
    enter() {
      if (places >= maxWaiters || draining()) return false
      places++
      return true
    },
    leave() {
      places--
    },
    untilChange({ digest, version, window }, forMs, isGone) {
      return new Promise((resolve, reject) => {
        const now = performance.now()
        const times = { endsAt: now + forMs, pollAt: now + firstPollMs, pollMs: firstPollMs }
        const store = window === null ? 'ledger' : 'window'
        const waiter: Waiter = { digest, store, version, ...times, isGone, resolve, reject }
        const others = waiters.get(digest)
        if (others) others.add(waiter)
        else waiters.set(digest, new Set([waiter]))
        schedule()
      })
    },
  }
}

export type WaitOptions = {
  waitMs: number
  /** Has the client hung up? Asked before every decision that could grant. */
  isGone: () => boolean
  /** Throws where the caller may not claim any more. Asked right before every decision after a wait. */
  requireAccess: () => void
}

/**
 * A claim that waits while it is `in_progress`: for the record to change, the lease to end or `waitMs` to be over; then
 * it is decided again as if it came now. A client that is gone is never granted; where no place is free, the client is
 * gone or the process shuts down, the last answer stands. Only the final answer is observed. Throws what `requireAccess`
 * throws, and whatever kept the claim from being answered.
 */
export async function claimWaiting(
  deps: LedgerDeps,
  room: WaitRoom,
  request: ClaimRequest,
  { waitMs, isGone, requireAccess }: WaitOptions,
): Promise<ClaimAnswer> {
  const endsAt = performance.now() + waitMs
  let reportLast = (): void => {}
  const observer: LedgerDeps['observer'] = {
    claimed: (record) => deps.observer.claimed(record),
    settled: (verb, record) => deps.observer.settled(verb, record),
    expired: (record) => deps.observer.expired(record),
    answered: (outcome, record, now) => {
      reportLast = () => deps.observer.answered(outcome, record, now)
    },
  }
  const decide = async (): Promise<ClaimAnswer> => {
    reportLast = () => {}
    return onlyAnswer(await claim({ ...deps, observer }, [request]))
  }

  let answer = await decide()
  if (answer.outcome === 'in_progress' && room.enter()) {
    try {
      while (answer.outcome === 'in_progress' && performance.now() < endsAt) {
        const { record, now } = answer
        // One more than the rest: a lease is live to the end of its last millisecond.
        const leaseMs = (record.leaseExpiresAt ?? now) - now + 1
        const forMs = Math.min(leaseMs, endsAt - performance.now())
        const next = await room.untilChange(record, forMs, isGone)
        if (next === 'go' || isGone()) break
        requireAccess()
        answer = await decide()
      }
    } finally {
      room.leave()
    }
  }
  reportLast()
  return answer
}
