import type { RecordRow } from '@ranbook/contract'
import { durationText } from '../../components/duration-text.ts'

/** What the state alone does not say: how long a lease or a pause still is, how long it took, why it was given up. */
export function recordDetail(record: RecordRow, now: number): string | null {
  switch (record.state) {
    case 'claimed':
    case 'held':
      return record.lease_expires_at === null ? null : leaseText(record, Date.parse(record.lease_expires_at) - now)
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

/** Whether it is over the service has said; this machine's clock, which may differ, only tells by how much. */
function leaseText({ state, lease_over }: RecordRow, leftMs: number): string {
  const isOver = lease_over || state === 'held'
  return isOver ? `lease over for ${durationText(-leftMs)}` : `lease ends in ${durationText(leftMs)}`
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
