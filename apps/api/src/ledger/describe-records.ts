import type { LookupMatch } from '@ranbook/contract'
import {
  type DuplicateTally,
  type LedgerRecord,
  type RecordHistory,
  type RecordStore,
  type RecordVerdict,
  recordSentence,
  verdictOf,
} from '@ranbook/rules'

/** A record that a question named. `now` is the store's clock when it was read; `record` comes without its result. */
export type FoundRecord = {
  record: LedgerRecord
  duplicates: DuplicateTally | null
  matched: LookupMatch
  now: number
}

/** What is known of it, and whether its effect ran. */
export type RecordAnswer = FoundRecord & { verdict: RecordVerdict; sentence: string; lateCompletions: number }

/** Enough to hide the round trips, few enough to leave the cold connections to others. */
const readsAtOnce = 4

/** Verdict and sentence of each record, in order. Histories are read only where something may stand in them. */
export async function describeRecords(
  store: Pick<RecordStore, 'readHistory'>,
  found: readonly FoundRecord[],
): Promise<RecordAnswer[]> {
  const answers: RecordAnswer[] = new Array(found.length)
  const waiting = found.entries()
  const work = async (): Promise<void> => {
    for (const [at, item] of waiting) {
      const history = mayHaveHistory(item.record) ? await store.readHistory(item.record.digest) : emptyHistory
      answers[at] = describe(item, history)
    }
  }
  await Promise.all(Array.from({ length: readsAtOnce }, work))
  return answers
}

const emptyHistory: RecordHistory = { attempts: [], lateCompletions: [] }

/**
 * The first grant, and the word of its owner that ended it, displace nothing; a late complete needs more than that. A
 * window keeps no history.
 */
function mayHaveHistory({ version, endedAt, cause, window }: LedgerRecord): boolean {
  if (version === 1 || window !== null) return false
  const endedByOwner = endedAt !== null && cause !== 'operator' && cause !== 'retry' && cause !== 'replay'
  return version > 2 || !endedByOwner
}

function describe(found: FoundRecord, { attempts, lateCompletions }: RecordHistory): RecordAnswer {
  const { record, duplicates, now } = found
  // A grant between the two reads archives the attempt that `record` still shows.
  const earlier = attempts.filter(({ fencingToken }) => fencingToken < record.fencingToken)
  const completed = earlier.filter(({ end, generation }) => end === 'completed' && generation < record.generation)
  const unheard = earlier.filter(
    ({ generation, end, error }) =>
      generation === record.generation && (end === 'expired' || (end === 'decided' && error === null)),
  )
  // What a replay armed shows its last generation still.
  const completedBefore = completed.length + (record.replay?.armed?.state === 'completed' ? 1 : 0)
  const verdict = verdictOf(record, completedBefore, now)
  const last = lateCompletions.at(-1)
  const sentence = recordSentence({
    record,
    verdict,
    completions: completedBefore + (record.state === 'completed' ? 1 : 0),
    unheardAttempts: unheard.length,
    late: last === undefined ? null : { count: lateCompletions.length, lastAt: last.at },
    duplicates,
  })
  return { ...found, verdict, sentence, lateCompletions: lateCompletions.length }
}
