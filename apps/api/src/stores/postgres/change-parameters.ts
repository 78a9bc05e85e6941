import type { ArchivedAttempt, AuditEntry, Change, LedgerRecord } from '@ranbook/rules'
import { bytesArray, plainArray, textArray, timeArray } from './array-literal.ts'
import { attemptEndCodes, causeCodes, fingerprintKindCodes, leaseExpiryCodes, stateCodes } from './record-codes.ts'
import { fingerprintHex, joinedRefs } from './stored-fields.ts'

/** $1 to $27 of the change statements; `changes` stand in the order of their digests, their fencing numbers drawn. */
export function changeParameters(changes: readonly Change[]): (string | null)[] {
  const numbers = (of: (record: LedgerRecord) => number | null) => plainArray(changes.map(({ record }) => of(record)))
  const times = (of: (record: LedgerRecord) => number | null) => timeArray(changes.map(({ record }) => of(record)))
  const texts = (of: (record: LedgerRecord) => string | null) => textArray(changes.map(({ record }) => of(record)))
  const fills = changes.map(({ fill }) => fill)
  return [
    plainArray(changes.map(({ record }) => record.digest)),
    plainArray(changes.map(({ expectVersion }) => expectVersion)),
    numbers(({ version }) => version),
    numbers(({ state }) => stateCodes[state]),
    numbers(({ cause }) => cause && causeCodes[cause]),
    numbers(({ generation }) => generation),
    numbers(({ attempt }) => attempt),
    plainArray(changes.map(({ record }) => record.claimToken)),
    numbers(({ fencingToken }) => fencingToken),
    texts(({ owner }) => owner),
    numbers(({ leaseMs }) => leaseMs),
    numbers(({ onLeaseExpiry }) => leaseExpiryCodes[onLeaseExpiry]),
    times(({ leaseExpiresAt }) => leaseExpiresAt),
    times(({ sweepAt }) => sweepAt),
    times(({ claimedAt }) => claimedAt),
    times(({ endedAt }) => endedAt),
    times(({ availableAt }) => availableAt),
    numbers(({ fingerprint }) => fingerprint && fingerprintKindCodes[fingerprint.kind]),
    bytesArray(changes.map(({ record }) => record.fingerprint && fingerprintHex(record.fingerprint))),
    texts(({ result }) => result),
    texts(({ error }) => error),
    textArray(fills.map((fill) => fill?.payload ?? null)),
    textArray(fills.map((fill) => joinedRefs(fill?.refs ?? null))),
    textArray(fills.map((fill) => fill?.source ?? null)),
    plainArray(fills.map((fill) => fill?.seq ?? null)),
    timeArray(fills.map((fill) => fill?.occurredAt ?? null)),
    texts(({ replay }) => replay && JSON.stringify(replay)),
  ]
}

/** $28 to $47 of `CHANGE_RECORDS_WITH_TRACES`. */
export function traceParameters(changes: readonly Change[]): (string | null)[] {
  return [
    ...archiveParameters(changes.flatMap(({ archive }) => archive ?? [])),
    ...auditParameters(changes.flatMap(({ audit, record }) => (audit ? [{ ...audit, digest: record.digest }] : []))),
  ]
}

function archiveParameters(attempts: readonly ArchivedAttempt[]): (string | null)[] {
  return [
    plainArray(attempts.map(({ digest }) => digest)),
    plainArray(attempts.map(({ fencingToken }) => fencingToken)),
    plainArray(attempts.map(({ generation }) => generation)),
    plainArray(attempts.map(({ attempt }) => attempt)),
    plainArray(attempts.map(({ claimToken }) => claimToken)),
    textArray(attempts.map(({ owner }) => owner)),
    timeArray(attempts.map(({ claimedAt }) => claimedAt)),
    timeArray(attempts.map(({ leaseExpiresAt }) => leaseExpiresAt)),
    timeArray(attempts.map(({ endedAt }) => endedAt)),
    plainArray(attempts.map(({ end }) => attemptEndCodes[end])),
    textArray(attempts.map(({ error }) => error)),
    textArray(attempts.map(({ result }) => result)),
  ]
}

function auditParameters(lines: readonly (AuditEntry & { digest: string })[]): (string | null)[] {
  return [
    plainArray(lines.map(({ digest }) => digest)),
    textArray(lines.map(({ actor }) => actor)),
    textArray(lines.map(({ action }) => action)),
    textArray(lines.map(({ target }) => target)),
    textArray(lines.map(({ reason }) => reason)),
    textArray(lines.map(({ before }) => before)),
    textArray(lines.map(({ after }) => after)),
    textArray(lines.map(({ requestId }) => requestId)),
  ]
}
