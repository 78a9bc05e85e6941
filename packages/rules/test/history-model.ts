import type { LeaseExpiryRule, Policy, Resolution } from '@ranbook/contract'
import type { LedgerRecord } from '../src/record.ts'
import type { SettleCommand } from '../src/settle.ts'

/** What a claim is answered; `granted` is a new attempt, `repeated` the live claim again. */
type ClaimWord = 'granted' | 'repeated' | 'in_progress' | 'backoff' | 'duplicate' | 'held' | 'dead' | 'token_spent'

/** `late`: stale, and the result is kept. */
export type SettleWord = 'accepted' | 'same' | 'already_settled' | 'result_conflict' | 'stale' | 'late'

/**
 * One record as rules 3 to 5 and 9 of the protocol tell its story: who was granted, what the last owner said, and who
 * decided since. It knows no state and no cause, so it can't share a mistake with the rules it is compared with.
 */
export type HistoryModel = {
  expectClaim(token: string, policy: Policy, now: number): ClaimWord
  expectSettle(token: string, command: SettleCommand): SettleWord
  mayDecide(endLiveClaim: boolean, now: number): boolean
  /** Number of the attempt that the next grant has. */
  nextAttempt(): number
  granted(token: string, record: LedgerRecord): void
  settled(command: SettleCommand, record: LedgerRecord): void
  decided(decision: Resolution): void
  givenUp(): void
}

type Story = {
  token: string
  attempt: number
  rule: LeaseExpiryRule
  leaseEnd: number
  /** The last word of the token's owner that ended its attempt. */
  word: Exclude<SettleCommand, { verb: 'extend' }> | null
  /** A fail: when the record may be granted again; null where it was given up. */
  retryAt: number | null
  decision: Resolution | null
  lost: boolean
}

/** A model of a record that nobody has claimed yet. Results must be spelled alike where they mean the same. */
export function createHistoryModel(): HistoryModel {
  const spent = new Set<string>()
  let story: Story | null = null

  const runs = (known: Story): boolean => known.word === null && known.decision === null && !known.lost
  const told = (): Story => {
    if (story === null) throw new Error('nobody was granted yet')
    return story
  }

  /** What a fresh token gets; `over`: the lease ran out and nobody said anything. */
  function place(
    known: Story,
    now: number,
  ): 'granted' | 'over' | Exclude<ClaimWord, 'repeated' | 'token_spent' | 'granted'> {
    switch (known.decision) {
      case 'completed':
      case 'skipped':
        return 'duplicate'
      case 'dead':
        return 'dead'
      case 'retry':
        return 'granted'
      case null:
        break
    }
    switch (known.word?.verb) {
      case 'complete':
        return 'duplicate'
      case 'release':
        return 'granted'
      case 'fail':
        return known.retryAt === null ? 'dead' : now < known.retryAt ? 'backoff' : 'granted'
      case undefined:
        break
    }
    if (known.lost) return 'dead'
    return now <= known.leaseEnd ? 'in_progress' : 'over'
  }

  return {
    expectClaim(token, policy, now) {
      if (story === null) return 'granted'
      const stands = place(story, now)
      if (stands === 'in_progress' && token === story.token) return 'repeated'
      if (stands === 'over' && story.rule === 'hold') return 'held'
      const usedUp = policy.max_attempts !== null && story.attempt >= policy.max_attempts
      if (stands === 'over' && usedUp) return 'dead'
      if (stands === 'over' || stands === 'granted') return spent.has(token) ? 'token_spent' : 'granted'
      return stands
    },

    expectSettle(token, command) {
      const known = told()
      const stale = command.verb === 'complete' && spent.has(token) ? 'late' : 'stale'
      if (token !== known.token) return stale
      if (known.decision === 'retry' && command.verb === 'complete') return 'accepted'
      if (known.decision !== null) return stale
      if (known.word === null) return 'accepted'
      if (known.word.verb !== command.verb) return 'already_settled'
      if (known.word.verb !== 'complete' || command.verb !== 'complete') return 'same'
      return known.word.result === command.result ? 'same' : 'result_conflict'
    },

    mayDecide(endLiveClaim, now) {
      const known = told()
      const stands = place(known, now)
      if (stands === 'duplicate') return false
      if (stands === 'in_progress') return endLiveClaim
      return stands !== 'over' || known.rule === 'hold' || endLiveClaim
    },

    nextAttempt() {
      if (story === null) return 1
      return story.attempt + (story.decision === null && story.word?.verb === 'release' ? 0 : 1)
    },

    granted(token, record) {
      spent.add(token)
      const { attempt, onLeaseExpiry, leaseMs, claimedAt } = record
      const unheard = { word: null, retryAt: null, decision: null, lost: false }
      story = { token, attempt, rule: onLeaseExpiry, leaseEnd: claimedAt + leaseMs, ...unheard }
    },

    settled(command, record) {
      const known = told()
      const believed = { ...known, decision: null, lost: false }
      if (command.verb === 'extend') {
        story = { ...believed, leaseEnd: Math.max(known.leaseEnd, record.leaseExpiresAt ?? 0) }
      } else {
        story = { ...believed, word: command, retryAt: record.availableAt }
      }
    },

    decided(decision) {
      const known = told()
      // Given back unstarted: nothing ran that another attempt number would have to tell from the next run.
      if (decision === 'retry' && known.decision === null && known.word?.verb === 'release') return
      story = { ...known, decision, word: null, lost: false }
    },

    givenUp() {
      const known = told()
      if (runs(known)) story = { ...known, lost: true }
    },
  }
}
