import { type LedgerRecord, type StateCause, shortFingerprint, type WindowPlace } from '@ranbook/rules'
import { byteReader } from './byte-reader.ts'
import { byteWriter, textCapacity } from './byte-writer.ts'
import type { Cell } from './cell-port.ts'
import { shortError } from './short-error.ts'
import { tokenBytes, tokenText } from './spent-tokens.ts'

/** A record of a window. */
export type WindowRecord = LedgerRecord & { window: NonNullable<LedgerRecord['window']> }

/** What a cell holds. */
export type WindowContent = {
  record: WindowRecord
  /** Tokens of displaced attempts, 16 bytes each, oldest first. */
  spent: Buffer
}

// The order of both is data: append, never change.
const states = ['claimed', 'completed', 'failed', 'dead', 'held', 'skipped', 'ready'] as const
const causes: readonly (StateCause | null)[] = [
  null,
  'attempts_failed',
  'attempts_lost',
  'not_retryable',
  'operator',
  'released',
  'retry',
]

/** The way bodies are written; readers refuse any other. */
const format = 0
/** Everything of a body but texts, result, error and spent tokens. */
const fixedCapacity = 128
const fingerprintPrefix = 'sha256:'
const fingerprintBytes = 8

/** The bits of the second and third byte: what follows, and in which form. */
const bit = {
  ended: 1,
  available: 2,
  leased: 4,
  owner: 8,
  fingerprint: 16,
  given: 32,
  rule: 64,
  result: 128,
  error: 256,
  spent: 512,
  /** First attempt, granted with the very first claim. */
  first: 1024,
  /** The time that others are told from stands in the body: its fencing number is not known yet. */
  ownBase: 2048,
} as const
const formatUnit = 4096

/**
 * The record as a window keeps it, and so as it answers from then on: a short fingerprint, an error of 1 KiB, an owner
 * only while somebody owns it, and nothing for a sweeper, as windows have none.
 */
export function keptRecord(record: WindowRecord): WindowRecord {
  const owned = record.state === 'claimed' || record.state === 'held'
  return {
    ...record,
    owner: owned ? record.owner : null,
    sweepAt: record.state === 'claimed' ? record.leaseExpiresAt : null,
    fingerprint: shortFingerprint(record.fingerprint),
    error: shortError(record.error),
    detailsErasedAt: null,
  }
}

/**
 * The body of a record as `keptRecord` gives it. Times are told from that of its fencing number in ms, and so none of
 * this machine is needed for a first grant: `fencing` says whether `record.fencingToken` is what the cell will have.
 */
export function encodeBody(record: WindowRecord, spent: Buffer, fencing: 'known' | 'drawn'): Buffer {
  const { owner, fingerprint, result, error, window, leaseExpiresAt, endedAt, availableAt, claimedAt } = record
  const base = fencing === 'known' ? timeOfFencing(record.fencingToken) : claimedAt
  const isFirst =
    record.generation === 1 && record.attempt === 1 && claimedAt === base && record.firstClaimedAt === claimedAt
  const texts = [record.class, record.consumer, record.key, owner, fingerprint?.rule ?? null, result, error]
  let capacity = fixedCapacity + spent.length
  for (const text of texts) capacity += text === null ? 0 : textCapacity(text)

  const { byte, count, difference, duration, text, raw, done } = byteWriter(capacity)
  byte(
    states.indexOf(record.state) +
      causes.indexOf(record.cause) * 8 +
      (record.onLeaseExpiry === 'hold' ? 64 : 0) +
      (window.degraded ? 128 : 0),
  )
  const flags =
    (endedAt === null ? 0 : bit.ended) +
    (availableAt === null ? 0 : bit.available) +
    (leaseExpiresAt === null ? 0 : bit.leased) +
    (owner === null ? 0 : bit.owner) +
    (fingerprint === null ? 0 : bit.fingerprint) +
    (fingerprint?.kind === 'given' ? bit.given : 0) +
    (fingerprint?.rule === undefined ? 0 : bit.rule) +
    (result === null ? 0 : bit.result) +
    (error === null ? 0 : bit.error) +
    (spent.length === 0 ? 0 : bit.spent) +
    (isFirst ? bit.first : 0) +
    (fencing === 'drawn' ? bit.ownBase : 0) +
    format * formatUnit
  byte(flags % 256)
  byte(flags >> 8)
  raw(tokenBytes(record.claimToken))
  text(record.class)
  text(record.consumer)
  text(record.key)
  duration(window.ms)
  duration(record.leaseMs)
  if (fencing === 'drawn') count(base)
  if (!isFirst) {
    count(record.generation)
    count(record.attempt)
    difference(claimedAt - base)
    difference(claimedAt - record.firstClaimedAt)
  }
  if (leaseExpiresAt !== null) difference(leaseExpiresAt - claimedAt - record.leaseMs)
  if (endedAt !== null) difference(endedAt - claimedAt)
  if (availableAt !== null) difference(availableAt - (endedAt ?? claimedAt))
  if (owner !== null) text(owner)
  if (fingerprint !== null) {
    raw(Buffer.from(fingerprint.value.slice(fingerprintPrefix.length), 'hex'))
    if (fingerprint.rule !== undefined) text(fingerprint.rule)
  }
  if (result !== null) text(result)
  if (error !== null) text(error)
  if (spent.length > 0) {
    count(spent.length)
    raw(spent)
  }
  return done()
}

/** What a cell holds, of that record in that place. Throws RangeError where it is none that this version wrote. */
export function decodeCell(digest: string, place: WindowPlace, cell: Cell): WindowContent {
  const { byte, count, difference, duration, text, raw } = byteReader(cell.body)
  const head = byte()
  const flags = byte() + byte() * 256
  if (Math.floor(flags / formatUnit) !== format) throw new RangeError('the cell was written by another version')
  const has = (one: number): boolean => (flags & one) !== 0
  const state = states[head % 8]
  const cause = causes[(head >> 3) % 8]
  if (state === undefined || cause === undefined) throw new RangeError('the cell has no state that this version knows')

  const claimToken = tokenText(raw(16))
  const names = { class: text(), consumer: text(), key: text() }
  const window = { place, ms: duration(), degraded: (head & 128) !== 0 }
  const leaseMs = duration()
  const base = has(bit.ownBase) ? count() : timeOfFencing(cell.fencingToken)
  const [generation, attempt] = has(bit.first) ? [1, 1] : [count(), count()]
  const claimedAt = has(bit.first) ? base : base + difference()
  const firstClaimedAt = has(bit.first) ? base : claimedAt - difference()
  const leaseExpiresAt = has(bit.leased) ? claimedAt + leaseMs + difference() : null
  const endedAt = has(bit.ended) ? claimedAt + difference() : null
  const availableAt = has(bit.available) ? (endedAt ?? claimedAt) + difference() : null
  const owner = has(bit.owner) ? text() : null
  const fingerprint = has(bit.fingerprint)
    ? {
        kind: has(bit.given) ? ('given' as const) : ('computed' as const),
        value: fingerprintPrefix + raw(fingerprintBytes).toString('hex'),
        ...(has(bit.rule) ? { rule: text() } : {}),
      }
    : null
  const result = has(bit.result) ? text() : null
  const error = has(bit.error) ? text() : null
  const spent = has(bit.spent) ? raw(count()) : Buffer.alloc(0)
  return {
    record: {
      ...{ digest, version: cell.version, ...names, state, cause, generation, attempt, claimToken },
      ...{ fencingToken: cell.fencingToken, owner, leaseMs, onLeaseExpiry: (head & 64) !== 0 ? 'hold' : 'retry' },
      ...{ leaseExpiresAt, sweepAt: state === 'claimed' ? leaseExpiresAt : null, firstClaimedAt, claimedAt, endedAt },
      ...{ availableAt, fingerprint, result, error, detailsErasedAt: null, window, replay: null },
    },
    spent,
  }
}

/** When a fencing number was made, in ms, where it is the clock's; else only what times are told from. */
function timeOfFencing(fencingToken: number): number {
  return Math.floor(fencingToken / 1000)
}
