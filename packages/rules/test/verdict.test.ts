import { expect, test } from 'vitest'
import { type RecordVerdict, verdictOf } from '../src/verdict.ts'
import { now, type Situation, situations } from './record-situations.ts'

/** Whether it ran, where no earlier generation completed. */
const verdicts: Record<Situation, RecordVerdict> = {
  'claimed with a live lease': 'running',
  'claimed with a lease in its last ms': 'running',
  'a retry claim whose lease is over': 'interrupted',
  'a retry claim noticed by the sweeper': 'interrupted',
  'a hold claim whose lease is over': 'held',
  'held by the sweeper': 'held',
  completed: 'ran',
  'completed by an operator': 'ran',
  'failed and waiting': 'failed',
  'failed and due': 'failed',
  'dead as not retryable': 'dead',
  'dead as attempts failed': 'dead',
  'dead by a lost lease': 'dead',
  'dead by an operator': 'dead',
  'skipped by an operator': 'skipped',
  'given back': 'ready',
  'sent back by an operator': 'ready',
  'armed after it completed': 'ready',
  'armed after it was held': 'ready',
  'armed after its lease was lost': 'ready',
}

const completed: Situation[] = ['completed', 'completed by an operator']

test.each(situations.map((row) => ({ ...row, verdict: verdicts[row.situation] })))(
  '$situation under $rule, the first time: $verdict',
  ({ record, verdict }) => {
    expect(verdictOf(record, 0, now)).toBe(verdict)
  },
)

test.each(situations.map((row) => ({ ...row, verdict: completed.includes(row.situation) ? 'ran_again' : 'ran' })))(
  '$situation under $rule, after a generation that completed: $verdict',
  ({ record, verdict }) => {
    expect(verdictOf(record, 1, now)).toBe(verdict)
  },
)

test('completed with its details erased: ran_details_erased, and ran_again after a generation that completed', () => {
  const [completedRow] = situations.filter(({ situation }) => situation === 'completed')
  if (completedRow === undefined) throw new Error('it is among them')
  const record = { ...completedRow.record, result: null, owner: null, detailsErasedAt: now - 1 }
  expect(verdictOf(record, 0, now)).toBe('ran_details_erased')
  expect(verdictOf(record, 1, now)).toBe('ran_again')
})

test.each(situations)('$situation under $rule, after two generations that completed: ran_again', ({ record }) => {
  expect(verdictOf(record, 2, now)).toBe('ran_again')
})
