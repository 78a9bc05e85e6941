import type { RecordRow } from '@ranbook/contract'
import { durationText } from '../../components/duration-text.ts'

/** What the state alone does not say: how long a lease or a pause still is, how long it took, why it was given up. */
export function recordDetail(record: RecordRow, now: number): string | null {
  switch (record.state) {
    case 'claimed':
    case 'held':
      return record.lease_expires_at === null ? null : leaseText(Date.parse(record.lease_expires_at) - now)
    case 'completed':
      return record.reason === 'operator' ? 'by an operator' : tookText(record)
    case 'failed': {
      const leftMs = record.available_at === null ? 0 : Date.parse(record.available_at) - now
      return leftMs > 0 ? `retry in ${durationText(leftMs)}` : 'may be retried'
    }
    case 'dead':
      return deadText(record.reason)
    case 'ready':
      return 'runs at the next delivery'
    case 'skipped':
      return record.reason === 'operator' ? 'by an operator' : null
  }
}

function leaseText(leftMs: number): string {
  return leftMs >= 0 ? `lease ends in ${durationText(leftMs)}` : `lease over for ${durationText(-leftMs)}`
}

function tookText({ claimed_at, settled_at }: RecordRow): string | null {
  if (claimed_at === null || settled_at === null) return null
  return `in ${durationText(Date.parse(settled_at) - Date.parse(claimed_at), true)}`
}

function deadText(reason: RecordRow['reason']): string | null {
  switch (reason) {
    case 'max_attempts':
      return 'attempts used up'
    case 'not_retryable':
      return 'not to be retried'
    case 'operator':
      return 'by an operator'
    case 'gap_given_up':
    case 'guard':
    case 'late':
    case null:
      return null
  }
}
