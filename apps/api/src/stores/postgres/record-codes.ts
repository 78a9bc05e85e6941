import type { LeaseExpiryRule, RecordState } from '@ranbook/contract'
import type { AttemptEnd, Fingerprint, StateCause } from '@ranbook/rules'

// Small numbers for words, as the columns hold them. They are data: never give a number another meaning. Indexes and
// CHECK constraints of the schema name some of them.

export const stateCodes = {
  claimed: 1,
  completed: 2,
  failed: 3,
  dead: 4,
  held: 5,
  skipped: 6,
  ready: 7,
} as const satisfies Record<RecordState, number>

export const causeCodes = {
  attempts_failed: 1,
  attempts_lost: 2,
  not_retryable: 3,
  operator: 4,
  released: 5,
  retry: 6,
  replay: 7,
} as const satisfies Record<StateCause, number>

export const leaseExpiryCodes = { retry: 1, hold: 2 } as const satisfies Record<LeaseExpiryRule, number>

export const fingerprintKindCodes = { given: 1, computed: 2 } as const satisfies Record<Fingerprint['kind'], number>

export const attemptEndCodes = {
  completed: 1,
  failed: 2,
  expired: 3,
  released: 4,
  decided: 5,
} as const satisfies Record<AttemptEnd, number>

/** The words of a table by their numbers. The function it returns throws for a number this version does not know. */
export function wordsOf<Word extends string>(codes: Readonly<Record<Word, number>>): (code: number) => Word {
  const words: Word[] = []
  for (const word in codes) words[codes[word]] = word
  return (code) => {
    const word = words[code]
    if (word === undefined) throw new RangeError(`the database holds ${code} where one of ${words.join(' ')} is meant`)
    return word
  }
}
