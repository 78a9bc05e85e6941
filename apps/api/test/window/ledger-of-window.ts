import { randomUUID } from 'node:crypto'
import {
  type ArchivedAttempt,
  type AuditEntry,
  type Change,
  type ClaimStore,
  type Fingerprint,
  type LateCompletion,
  type LedgerRecord,
  type NewRecord,
  type RecordStore,
  shortFingerprint,
  type WindowPlace,
} from '@ranbook/rules'
import type { OpenedStore } from '../conformance/store-under-test.ts'

/** Longer than any test takes. */
const windowMs = 3_600_000

/**
 * A window for the conformance suite of the ledger: records go in as a window's and come out as the ledger's, so that
 * what is claimed and settled can be judged by the same cases. What a window does not keep by design is kept here:
 * history, details, the long form of fingerprints, and the owner of what is settled.
 */
export function ledgerOfWindow(
  window: ClaimStore,
  place: WindowPlace,
  clockPasses: (time: number) => Promise<void>,
  close: () => Promise<void>,
): OpenedStore {
  const facts = { place, ms: windowMs, degraded: false }
  const fingerprints = new Map<string, Fingerprint>()
  const attempts: ArchivedAttempt[] = []
  const late: LateCompletion[] = []
  const digests = new Set<string>()
  const owners = new Map<string, string | null>()
  const lines: AuditEntry[] = []

  const into = (record: LedgerRecord): LedgerRecord => {
    owners.set(record.claimToken, record.owner)
    return { ...record, window: facts, fingerprint: short(record.fingerprint) }
  }
  const outOf = (record: LedgerRecord): LedgerRecord => ({
    ...record,
    window: null,
    owner: owners.get(record.claimToken) ?? record.owner,
    fingerprint: record.fingerprint && (fingerprints.get(nameOf(record.fingerprint)) ?? record.fingerprint),
  })
  const short = (fingerprint: Fingerprint | null): Fingerprint | null => {
    const kept = shortFingerprint(fingerprint)
    if (kept !== null && fingerprint !== null) fingerprints.set(nameOf(kept), fingerprint)
    return kept
  }
  const notKept = (): never => {
    throw new Error('a window does not keep that')
  }

  const store: RecordStore = {
    async insertIfAbsent(records) {
      const outcomes = await window.insertIfAbsent(
        records.map((record): NewRecord => {
          digests.add(record.request.digest)
          owners.set(record.request.claimToken, record.request.owner)
          short(record.request.fingerprint)
          return { ...record, window: facts }
        }),
      )
      return outcomes.map((outcome) => ({ ...outcome, record: outOf(outcome.record) }))
    },
    async read(requests) {
      const found = await window.read(requests)
      return found.map((one) => one && { ...one, record: outOf(one.record) })
    },
    async compareAndSet(changes) {
      const written = await window.compareAndSet(
        changes.map((change): Change => ({ ...change, record: into(change.record) })),
      )
      return written.map((one, at) => {
        const { archive = null, audit = null } = changes[at] ?? {}
        if (one !== null && archive !== null) attempts.push(archive)
        if (one !== null && audit !== null) lines.push(audit)
        return one && { record: outOf(one.record) }
      })
    },
    async completeClaimed(requests) {
      const done = await window.completeClaimed(requests)
      return done.map((one) => one && { ...one, record: outOf(one.record) })
    },
    async findExpired() {
      const found = await this.read([...digests].map((digest) => ({ digest, claimToken: null })))
      return found.flatMap((one) => (one?.record.sweepAt != null && one.record.sweepAt <= one.now ? [one] : []))
    },
    async readHistory(digest) {
      return {
        attempts: attempts.filter((attempt) => attempt.digest === digest),
        lateCompletions: late.filter((one) => one.digest === digest),
      }
    },
    async keepLateCompletions(given) {
      for (const one of given) {
        if (!late.some(({ claimToken }) => claimToken === one.claimToken)) late.push({ ...one, at: 0 })
      }
    },
    search: notKept,
    readFull: notKept,
    addDuplicates: notKept,
  }
  const audit = {
    write: async (entry: AuditEntry) => void lines.push(entry),
    linesAbout: async () => lines.map((line, at) => ({ ...line, id: at, at: 0, requestId: randomUUID() })),
  }
  return { store, audit, clockPasses, close }
}

function nameOf({ kind, value, rule = '' }: Fingerprint): string {
  return `${kind} ${value} ${rule}`
}
