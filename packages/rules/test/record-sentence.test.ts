import { describe, expect, test } from 'vitest'
import { type RecordFacts, recordSentence } from '../src/record-sentence.ts'
import { verdictOf } from '../src/verdict.ts'
import { now, type Situation, situations, standing } from './record-situations.ts'

const start = 'refund.issued "order:88:refund"'
const at = { claimed: '1970-01-01 00:16:35 UTC', ended: '1970-01-01 00:16:39 UTC', first: '1970-01-01 00:15:10 UTC' }

/** What the sentence says after class and key, where nothing else is known of the record. */
const sentences: Record<Situation, string> = {
  'claimed with a live lease': `is running: billing-worker (billing-1) claimed at ${at.claimed}, attempt 3, and its lease ends at 1970-01-01 00:16:42 UTC.`,
  'claimed with a lease in its last ms': `is running: billing-worker (billing-1) claimed at ${at.claimed}, attempt 3, and its lease ends at 1970-01-01 00:16:40 UTC.`,
  'a retry claim whose lease is over': `may have run: billing-worker (billing-1) claimed at ${at.claimed}, attempt 3, its lease ran out at ${at.ended} without a word, and nobody took it up.`,
  'a retry claim noticed by the sweeper': `may have run: billing-worker (billing-1) claimed at ${at.claimed}, attempt 3, its lease ran out at ${at.ended} without a word, and nobody took it up.`,
  'a hold claim whose lease is over': `may have run and is held until a person decides: billing-worker (billing-1) claimed at ${at.claimed}, attempt 3, and its lease ran out at ${at.ended} without a word.`,
  'held by the sweeper': `may have run and is held until a person decides: billing-worker (billing-1) claimed at ${at.claimed}, attempt 3, and its lease ran out at ${at.ended} without a word.`,
  completed: `ran once: billing-worker completed it at ${at.ended}, attempt 3, first claimed at ${at.first}.`,
  'completed by an operator': `ran once: an operator marked it completed at ${at.ended}, after attempt 3 of billing-worker, first claimed at ${at.first}.`,
  'failed and waiting': `failed: billing-worker reported attempt 3 as failed at ${at.ended}, with "refused", to be tried again from 1970-01-01 00:16:41 UTC.`,
  'failed and due': `failed: billing-worker reported attempt 3 as failed at ${at.ended}, with "refused", to be tried again from 1970-01-01 00:16:40 UTC.`,
  'dead as not retryable': `was given up: billing-worker failed at ${at.ended} and said not to retry, with "refused".`,
  'dead as attempts failed': `was given up: 3 attempts of billing-worker used up, the last failed at ${at.ended}, with "refused".`,
  'dead by a lost lease': `was given up: 3 attempts of billing-worker used up, the last without a word, so it may have run; noticed at ${at.ended}.`,
  'dead by an operator': `was given up: an operator decided so at ${at.ended} after 3 attempts of billing-worker.`,
  'skipped by an operator': `was skipped on purpose: an operator decided so at ${at.ended} after attempt 3 of billing-worker.`,
  'given back': `has not run: billing-worker gave attempt 3 back unstarted at ${at.ended}, and the next delivery runs it.`,
  'sent back by an operator': `is to run with the next delivery: an operator sent it back at ${at.ended} after attempt 3 of billing-worker, with "refused".`,
  'armed after it completed': `ran once: billing-worker completed it at ${at.ended}, and a replay lets the next delivery run it again as generation 3 ("the provider lost it"), first claimed at ${at.first}.`,
  'armed after it was held': `is to run with the next delivery: a replay armed it ("the provider lost it") after attempt 3 of billing-worker, which ended without a word and may have run.`,
  'armed after its lease was lost': `is to run with the next delivery: a replay armed it ("the provider lost it") after attempt 3 of billing-worker, which was given up and may have run.`,
}

function factsOf(situation: Situation, known: Partial<RecordFacts> = {}): RecordFacts {
  const record = standing(situation, situations.find((row) => row.situation === situation)?.rule ?? 'retry')
  const armedAfter = record.replay?.armed?.state === 'completed' ? 1 : 0
  const completions = record.state === 'completed' ? 1 : armedAfter
  const verdict = verdictOf(record, armedAfter, now)
  return { record, verdict, completions, unheardAttempts: 0, late: null, duplicates: null, ...known }
}

test.each(situations)(
  'the sentence about $situation under $rule says what happened, by whom and when',
  ({ situation }) => {
    expect(recordSentence(factsOf(situation))).toBe(`${start} ${sentences[situation]}`)
  },
)

describe('what else is known joins the sentence', () => {
  test('suppressed duplicates are counted as at least, with the first and the last', () => {
    const duplicates = { count: 3, firstAt: now - 60_000, lastAt: now }
    expect(recordSentence(factsOf('completed', { duplicates }))).toMatch(
      /; at least 3 duplicates were suppressed, the first at 1970-01-01 00:15:40 UTC, the last at 1970-01-01 00:16:40 UTC\.$/,
    )
    expect(recordSentence(factsOf('completed', { duplicates: { ...duplicates, count: 1 } }))).toMatch(
      /; at least 1 duplicate was suppressed, at 1970-01-01 00:16:40 UTC\.$/,
    )
  })

  test('an attempt that was never heard of takes back the once', () => {
    const sentence = recordSentence(factsOf('completed', { unheardAttempts: 1 }))
    expect(sentence).toContain(`${start} ran: billing-worker completed it`)
    expect(sentence).toMatch(/; 1 earlier attempt ended without a word, so it may have run more than once\.$/)
  })

  test('a failed record with an unheard attempt before it may have run all the same', () => {
    const sentence = recordSentence(factsOf('failed and due', { unheardAttempts: 2 }))
    expect(sentence).toMatch(/; 2 earlier attempts ended without a word, so it may have run all the same\.$/)
  })

  test('a late completion says that it probably ran', () => {
    const late = { count: 1, lastAt: now }
    expect(recordSentence(factsOf('dead by an operator', { late }))).toMatch(
      /; a former owner reported too late, last at 1970-01-01 00:16:40 UTC, to have completed it, so it probably ran\.$/,
    )
    expect(recordSentence(factsOf('completed', { late }))).toMatch(/so it probably ran more than once\.$/)
    const givenBack = recordSentence(factsOf('given back', { late }))
    expect(givenBack).toMatch(/so it probably ran\.$/)
    expect(givenBack).not.toContain('has not run')
  })

  test('deliberate replays are counted', () => {
    const sentence = recordSentence(factsOf('completed', { completions: 3, verdict: 'ran_again' }))
    expect(sentence).toContain('ran 3 times, by deliberate replay')
  })

  test('a replay that has not completed is told beside the run before it', () => {
    const sentence = recordSentence(factsOf('failed and due', { completions: 1, verdict: 'ran' }))
    expect(sentence).toContain('ran once: billing-worker completed an earlier generation, and generation 2 is failed')
  })
})

test.each(['completed', 'dead as not retryable', 'skipped by an operator'] as const)(
  'of a record that is %s the sentence says when its details were erased',
  (situation) => {
    const record = { ...standing(situation, 'retry'), result: null, error: null, owner: null, detailsErasedAt: now }
    expect(recordSentence({ ...factsOf(situation), record })).toMatch(
      /; its details were erased at 1970-01-01 00:16:40 UTC, as the policy says\.$/,
    )
  },
)

test('a key can not rearrange the sentence around it', () => {
  const record = { ...standing('completed', 'retry'), key: `a\u202eb${'x'.repeat(300)}` }
  const sentence = recordSentence({ ...factsOf('completed'), record })
  expect(sentence).toContain(`refund.issued "a\\u202eb${'x'.repeat(117)}…" ran once`)
})
