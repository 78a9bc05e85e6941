import { noticeExpiry, type RecordStore } from '@ranbook/rules'
import type { LedgerObserver } from '../ledger/ledger-deps.ts'
import { type Job, repeatedly } from './job.ts'

/** A batch shares a connection with claims, so it is kept as small as theirs. */
const batchRecords = 64

export type SweeperDeps = {
  store: Pick<RecordStore, 'findExpired' | 'compareAndSet'>
  observer: Pick<LedgerObserver, 'expired'>
  everyMs: number
  failed: (error: unknown) => void
}

/**
 * Notices expired leases: counts each once, over all processes, and writes `held` where the class says hold. No answer
 * waits for it. Batch after batch until none is due, then again after `everyMs`.
 */
export function startSweeper(deps: SweeperDeps): Job {
  let stopping = false
  const job = repeatedly(
    deps.everyMs,
    async () => {
      while (!stopping && (await sweepBatch(deps)));
    },
    deps.failed,
  )
  return {
    stop: () => {
      stopping = true
      return job.stop()
    },
  }
}

/** True where more may be due. */
async function sweepBatch({ store, observer }: SweeperDeps): Promise<boolean> {
  const found = await store.findExpired(batchRecords)
  const changes = found.flatMap(({ record, now }) => noticeExpiry(record, now) ?? [])
  if (changes.length === 0) return false
  const applied = await store.compareAndSet(changes)
  for (const written of applied) if (written) observer.expired(written.record)
  // Where another process took them all, it is sweeping, and this one would only read behind it.
  return found.length === batchRecords && applied.some((written) => written !== null)
}
