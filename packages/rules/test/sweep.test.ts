import { expect, test } from 'vitest'
import { isLeaseLive, visibleState } from '../src/record.ts'
import { noticeExpiry } from '../src/sweep.ts'
import { now, type Situation, situations, standing } from './record-situations.ts'

/** What the sweeper writes; it leaves every other situation alone. */
const noticed: Partial<Record<Situation, 'held' | 'claimed'>> = {
  'a retry claim whose lease is over': 'claimed',
  'a retry claim noticed by the sweeper': 'claimed',
  'a hold claim whose lease is over': 'held',
}

test.each(situations.map((row) => ({ ...row, becomes: noticed[row.situation] ?? 'left alone' })))(
  '$situation under $rule, met by the sweeper, is $becomes',
  ({ situation, record }) => {
    const state = noticed[situation]
    const change = { expectVersion: 7, grants: false, archive: null, fill: null, audit: null }
    expect(noticeExpiry(record, now)).toEqual(
      state === undefined ? null : { ...change, record: { ...record, version: 8, state, sweepAt: null } },
    )
  },
)

test.each(situations)('$situation under $rule shows the same state before and after the sweeper', ({ record }) => {
  const after = noticeExpiry(record, now)?.record ?? record
  expect(visibleState(after, now)).toBe(visibleState(record, now))
})

test('a lease is live through its last ms and over in the next', () => {
  const record = standing('claimed with a lease in its last ms', 'hold')
  expect(isLeaseLive(record, now)).toBe(true)
  expect(visibleState(record, now)).toBe('claimed')
  expect(isLeaseLive(record, now + 1)).toBe(false)
  expect(visibleState(record, now + 1)).toBe('held')
})
