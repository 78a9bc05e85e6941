import { hash } from 'node:crypto'
import type { LedgerRecord } from './record.ts'

// 16 bytes: collisions stay out of reach of any number of records, and a uuid column holds it.
const DIGEST_HEX_DIGITS = 32

// A length below this is a byte that UTF-8 writes as itself.
const ONE_BYTE_LENGTHS = 0x80

const RECORD_ID = /^(rec|win)_([0-9a-f]{32})$/
const IDEMPOTENCY_KEY = /^rbk-([0-9a-f]{32})-([1-9]\d{0,15})(?::(.+))?$/s

/**
 * The identity of a record: 32 lower-case hex digits, the first 16 bytes of SHA-256 over consumer, class and key, each
 * as its length in bytes (four bytes, big-endian) followed by its UTF-8. Byte-exact: nothing is trimmed, folded or
 * normalised, and no choice of texts makes two different triples one input.
 *
 * The texts must be well-formed (see `checkText`); lone surrogates would all become U+FFFD.
 */
export function recordDigest(consumer: string, eventClass: string, key: string): string {
  const consumerBytes = Buffer.byteLength(consumer, 'utf8')
  const classBytes = Buffer.byteLength(eventClass, 'utf8')
  const keyBytes = Buffer.byteLength(key, 'utf8')
  const input =
    consumerBytes < ONE_BYTE_LENGTHS && classBytes < ONE_BYTE_LENGTHS && keyBytes < ONE_BYTE_LENGTHS
      ? // The same bytes as below without a buffer for each: a third of the time, and nearly every identity is this short.
        prefix(consumerBytes) + consumer + prefix(classBytes) + eventClass + prefix(keyBytes) + key
      : Buffer.concat([lengthPrefixed(consumer), lengthPrefixed(eventClass), lengthPrefixed(key)])
  return hash('sha256', input, 'hex').slice(0, DIGEST_HEX_DIGITS)
}

function prefix(bytes: number): string {
  return `\0\0\0${String.fromCharCode(bytes)}`
}

function lengthPrefixed(text: string): Buffer {
  const utf8 = Buffer.from(text, 'utf8')
  const length = Buffer.alloc(4)
  length.writeUInt32BE(utf8.length)
  return Buffer.concat([length, utf8])
}

/** The public id of a record: `rec_` (ledger) or `win_` (window) and its digest. */
export function recordId({ digest, window }: Pick<LedgerRecord, 'digest' | 'window'>): string {
  return `${window === null ? 'rec' : 'win'}_${digest}`
}

/** A record's id taken apart: the store it names, and the digest in it. */
export type ParsedRecordId = { store: 'ledger' | 'window'; digest: string }

/** Takes a record's id apart; null for any other text. */
export function parseRecordId(id: string): ParsedRecordId | null {
  const [, prefix, digest] = RECORD_ID.exec(id) ?? []
  return digest === undefined ? null : { store: prefix === 'rec' ? 'ledger' : 'window', digest }
}

/**
 * What a consumer hands to downstream APIs: `rbk-<digest>-<generation>`, the same for every attempt of a generation, and
 * for later ones that repeat it; see `keyGeneration`.
 */
export function idempotencyKey(digest: string, generation: number): string {
  return `rbk-${digest}-${generation}`
}

/** An idempotency key taken apart. */
export interface ParsedIdempotencyKey {
  readonly digest: string
  /** At least 1; a safe integer. */
  readonly generation: number
  /** What the consumer put behind a colon to tell one record's effects apart; may itself hold colons. */
  readonly label: string | null
}

/** Takes an idempotency key apart, with or without its `:label`; null for any other text. */
export function parseIdempotencyKey(text: string): ParsedIdempotencyKey | null {
  const parts = IDEMPOTENCY_KEY.exec(text)
  if (parts === null) return null
  const [, digest = '', digits = '', label = null] = parts
  const generation = Number(digits)
  return Number.isSafeInteger(generation) ? { digest, generation, label } : null
}
