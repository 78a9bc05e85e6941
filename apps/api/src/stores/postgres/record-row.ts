import type { LedgerRecord } from '@ranbook/rules'
import { causeCodes, leaseExpiryCodes, stateCodes, wordsOf } from './record-codes.ts'
import { storedFingerprint, storedReplay, storedTime } from './stored-fields.ts'

/** The columns of a record in the order in which the statements that read whole records name them; times in seconds. */
export type RecordRow = readonly [
  version: number,
  className: string,
  consumer: string,
  key: string,
  state: number,
  cause: number | null,
  generation: number,
  attempt: number,
  claimToken: string,
  /** A bigint arrives as its digits. */
  fencingToken: string,
  owner: string | null,
  leaseMs: number,
  onLeaseExpiry: number,
  leaseExpiresAt: number | null,
  sweepAt: number | null,
  firstClaimedAt: number,
  claimedAt: number,
  endedAt: number | null,
  availableAt: number | null,
  fingerprintKind: number | null,
  fingerprint: string | null,
  result: string | null,
  error: string | null,
  detailsErasedAt: number | null,
  replay: string | null,
]

const stateOf = wordsOf(stateCodes)
const causeOf = wordsOf(causeCodes)
/** `retry` or `hold` by its number. */
export const leaseExpiryOf: (code: number) => LedgerRecord['onLeaseExpiry'] = wordsOf(leaseExpiryCodes)

/** The record of a row. Throws where a column holds a number that this version does not know. */
export function recordOf(digest: string, row: RecordRow): LedgerRecord {
  return {
    digest,
    version: row[0],
    class: row[1],
    consumer: row[2],
    key: row[3],
    state: stateOf(row[4]),
    cause: row[5] === null ? null : causeOf(row[5]),
    generation: row[6],
    attempt: row[7],
    claimToken: row[8],
    fencingToken: Number(row[9]),
    owner: row[10],
    leaseMs: row[11],
    onLeaseExpiry: leaseExpiryOf(row[12]),
    leaseExpiresAt: storedTime(row[13]),
    sweepAt: storedTime(row[14]),
    firstClaimedAt: storedTime(row[15]),
    claimedAt: storedTime(row[16]),
    endedAt: storedTime(row[17]),
    availableAt: storedTime(row[18]),
    fingerprint: storedFingerprint(row[19], row[20]),
    result: row[21],
    error: row[22],
    detailsErasedAt: storedTime(row[23]),
    window: null,
    replay: storedReplay(row[24]),
  }
}
