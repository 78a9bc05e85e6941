import { type Change, firstGrant, type NewRecord } from './decide.ts'
import type { AuditLine, AuditStore } from './key-store.ts'
import { type ArchivedAttempt, type Details, type LedgerRecord, visibleState } from './record.ts'
import {
  type DuplicateTally,
  type FullRecord,
  type LateCompletion,
  type ListedRecord,
  type RecordFilter,
  type RecordStore,
  releasedAttemptsShown,
} from './record-store.ts'
import { coversRecord } from './scope.ts'
import { completedFields } from './settle.ts'

/** A store in this process's memory, with the audit lines that its changes carried. */
export type MemoryStore = RecordStore & AuditStore

type Row = {
  record: LedgerRecord
  details: Details
  duplicates: DuplicateTally | null
  attempts: ArchivedAttempt[]
  lateCompletions: LateCompletion[]
}

/**
 * The store that other stores are compared with: the plainest reading of `RecordStore`. Nothing is durable, nothing is
 * forgotten, and it never throws `StoreError`. Every call runs without a pause from start to end, so it is atomic as a
 * whole. What it answers is frozen. `now` is its clock in ms since 1970 (cut to whole ms), asked once per call.
 */
export function createMemoryStore(options: { now: () => number }): MemoryStore {
  const rows = new Map<string, Row>()
  const audit: AuditLine[] = []
  let lastFencingToken = 0

  const readClock = (): number => Math.floor(options.now())
  const drawFencingToken = (): number => {
    lastFencingToken += 1
    return lastFencingToken
  }
  const isSpent = (row: Row, claimToken: string | null): boolean =>
    row.attempts.some((attempt) => attempt.claimToken === claimToken)

  function insertOne(item: NewRecord, now: number) {
    const { digest, claimToken } = item.request
    const standing = rows.get(digest)
    if (standing) return { inserted: false, record: standing.record, tokenSpent: isSpent(standing, claimToken), now }
    const record = freezeRecord(firstGrant(item, drawFencingToken(), now))
    const details = freezeDetails(item.request.details)
    rows.set(digest, { record, details, duplicates: null, attempts: [], lateCompletions: [] })
    return { inserted: true, record, tokenSpent: false, now }
  }

  function changeOne(change: Change): { record: LedgerRecord } | null {
    const row = rows.get(change.record.digest)
    if (!row || row.record.version !== change.expectVersion) return null
    const fencingToken = change.grants ? drawFencingToken() : change.record.fencingToken
    row.record = freezeRecord({ ...change.record, fencingToken })
    if (change.archive !== null) row.attempts.push(Object.freeze({ ...change.archive }))
    if (change.fill !== null) row.details = fillDetails(row.details, change.fill)
    if (change.audit !== null) audit.push(Object.freeze({ ...change.audit, id: audit.length + 1, at: readClock() }))
    return { record: row.record }
  }

  return {
    async insertIfAbsent(records) {
      const now = readClock()
      return records.map((item) => insertOne(item, now))
    },

    async read(requests) {
      const now = readClock()
      return requests.map(({ digest, claimToken }) => {
        const row = rows.get(digest)
        return row ? { record: row.record, tokenSpent: isSpent(row, claimToken), now } : null
      })
    },

    async compareAndSet(changes) {
      return changes.map(changeOne)
    },

    async completeClaimed(requests) {
      const now = readClock()
      return requests.map(({ digest, claimToken, consumer, result }) => {
        const row = rows.get(digest)
        if (row?.record.state !== 'claimed' || row.record.claimToken !== claimToken) return null
        if (consumer !== null && consumer !== row.record.consumer) return null
        row.record = freezeRecord({ ...row.record, version: row.record.version + 1, ...completedFields(result, now) })
        return { record: row.record, now }
      })
    },

    async findExpired(limit) {
      const now = readClock()
      return [...rows.values()]
        .map(({ record }) => record)
        .filter(({ state, sweepAt }) => state === 'claimed' && sweepAt !== null && sweepAt <= now)
        .sort((a, b) => (a.sweepAt ?? 0) - (b.sweepAt ?? 0))
        .slice(0, limit)
        .map((record) => ({ record, tokenSpent: false, now }))
    },

    async search(filter) {
      const now = readClock()
      const found = [...rows.values()]
        .filter((row) => matches(row, filter, now))
        .sort((a, b) => compareAge(b.record, a.record))
        .slice(0, filter.limit)
      return { rows: found.map(listedRecordOf), now }
    },

    async readFull(digests) {
      const found = digests.map((digest) => rows.get(digest))
      return { rows: found.map((row) => (row ? fullRecordOf(row) : null)), now: readClock() }
    },

    async readHistory(digest) {
      const row = rows.get(digest)
      const attempts = row?.attempts ?? []
      const shown = new Set(attempts.filter(({ end }) => end === 'released').slice(-releasedAttemptsShown))
      const listed = attempts.filter((attempt) => attempt.end !== 'released' || shown.has(attempt))
      return { attempts: listed, lateCompletions: [...(row?.lateCompletions ?? [])] }
    },

    async addDuplicates(tallies) {
      for (const { digest, count, firstAt, lastAt } of tallies) {
        const row = rows.get(digest)
        if (!row) continue
        const before = row.duplicates ?? { count: 0, firstAt, lastAt }
        row.duplicates = Object.freeze({
          count: before.count + count,
          firstAt: Math.min(before.firstAt, firstAt),
          lastAt: Math.max(before.lastAt, lastAt),
        })
      }
    },

    async keepLateCompletions(late) {
      const at = readClock()
      for (const item of late) {
        const row = rows.get(item.digest)
        if (!row || row.lateCompletions.some(({ claimToken }) => claimToken === item.claimToken)) continue
        if (row.attempts.some(({ claimToken, end }) => claimToken === item.claimToken && end === 'completed')) continue
        row.lateCompletions.push(Object.freeze({ ...item, at }))
      }
    },

    async write(entry) {
      audit.push(Object.freeze({ ...entry, id: audit.length + 1, at: readClock() }))
    },

    async linesAbout(target, actionPrefix, limit) {
      const about = audit.filter((line) => line.target === target && line.action.startsWith(actionPrefix))
      return about.slice(Math.max(0, about.length - limit))
    },
  }
}

function fillDetails(kept: Details, given: Details): Details {
  return freezeDetails({
    payload: kept.payload ?? given.payload,
    refs: kept.refs ?? given.refs,
    source: kept.source ?? given.source,
    seq: kept.seq ?? given.seq,
    occurredAt: kept.occurredAt ?? given.occurredAt,
  })
}

/** Copies, so that nothing a caller does to its own objects later changes what stands here. */
function freezeRecord(record: LedgerRecord): LedgerRecord {
  const fingerprint = record.fingerprint && Object.freeze({ ...record.fingerprint })
  return Object.freeze({ ...record, fingerprint })
}

function freezeDetails(details: Details): Details {
  return Object.freeze({ ...details, refs: details.refs && Object.freeze([...details.refs]) })
}

function fullRecordOf({ record, details, duplicates }: Row): FullRecord {
  return { record, details, duplicates }
}

function listedRecordOf({ record, details, duplicates }: Row): ListedRecord {
  const { result, ...shown } = record
  const { payload, ...listed } = details
  return { record: shown, hasResult: result !== null, hasPayload: payload !== null, details: listed, duplicates }
}

/** Oldest first by (firstClaimedAt, digest). */
function compareAge(a: Pick<LedgerRecord, 'firstClaimedAt' | 'digest'>, b: typeof a): number {
  if (a.firstClaimedAt !== b.firstClaimedAt) return a.firstClaimedAt - b.firstClaimedAt
  return a.digest < b.digest ? -1 : a.digest > b.digest ? 1 : 0
}

function matches({ record, details }: Row, filter: RecordFilter, now: number): boolean {
  const { digests, scope, after } = filter
  return (
    (digests === null || digests.includes(record.digest)) &&
    (scope === null || scope.some((one) => coversRecord(one, record))) &&
    (filter.class === null || filter.class === record.class) &&
    (filter.consumer === null || filter.consumer === record.consumer) &&
    (filter.state === null || filter.state === visibleState(record, now)) &&
    (filter.keyPrefix === null || record.key.startsWith(filter.keyPrefix)) &&
    (filter.ref === null || (details.refs?.includes(filter.ref) ?? false)) &&
    (filter.source === null || filter.source === details.source) &&
    (filter.seq === null || filter.seq === details.seq) &&
    (filter.from === null || record.firstClaimedAt >= filter.from) &&
    (filter.to === null || record.firstClaimedAt < filter.to) &&
    (after === null || compareAge(record, after) < 0)
  )
}
