import { type LookupMatch, limits } from '@ranbook/contract'
import {
  type FullRecord,
  parseIdempotencyKey,
  parseRecordId,
  type RecordFilter,
  type RecordStore,
  recordDigest,
  type SeenPair,
  seesEverything,
} from '@ranbook/rules'
import type { FoundRecord } from './describe-records.ts'
import { IdentityCollision } from './identity-collision.ts'
import type { Scope } from './ledger-deps.ts'

/** What is looked for: a text, and the class and consumer it is limited to. */
export type Sought = { q: string; class: string | null; consumer: string | null }

/** `now` is the store's clock at the first read. `more`: there are more than the newest `pageMaxItems`. */
export type Finding = { found: Map<string, FoundRecord>; now: number; more: boolean }

/** Records come with payload and result, so a question with thousands of them is read in parts. */
const digestsPerRead = 200

/** Records with this key for the pairs given, byte for byte. Throws `IdentityCollision` where a digest stands for another. */
export async function findByKey(
  store: Pick<RecordStore, 'readFull'>,
  key: string,
  pairs: readonly Omit<SeenPair, 'firstSeenAt'>[],
): Promise<Finding> {
  const asked = new Map(pairs.map((pair) => [recordDigest(pair.consumer, pair.class, key), pair]))
  return readDigests(store, [...asked.keys()], (digest, { record }) => {
    const pair = asked.get(digest)
    if (pair !== undefined) IdentityCollision.refuse(record, { ...pair, key })
    return 'key'
  })
}

/** The record whose id or idempotency key (with or without a label) the text is. */
export function findById(store: Pick<RecordStore, 'readFull'>, text: string): Promise<Finding> {
  const byId = parseRecordId(text)
  const digest = byId ?? parseIdempotencyKey(text)?.digest
  return readDigests(store, digest === undefined ? [] : [digest], () => (byId === null ? 'idempotency_key' : 'id'))
}

async function readDigests(
  store: Pick<RecordStore, 'readFull'>,
  digests: readonly string[],
  matchOf: (digest: string, full: FullRecord) => LookupMatch,
): Promise<Finding> {
  const finding: Finding = { found: new Map(), now: Number.POSITIVE_INFINITY, more: false }
  for (let from = 0; from < digests.length; from += digestsPerRead) {
    const part = digests.slice(from, from + digestsPerRead)
    const { rows, now } = await store.readFull(part)
    finding.now = Math.min(finding.now, now)
    for (const [at, full] of rows.entries()) {
      const digest = part[at]
      if (full !== null && digest !== undefined)
        finding.found.set(digest, foundRecord(full, matchOf(digest, full), now))
    }
  }
  return finding
}

/** Records that carry the text as a reference, or as `source#seq`. */
export async function findByMention(
  store: Pick<RecordStore, 'search'>,
  scope: Scope,
  sought: Sought,
): Promise<Finding> {
  const finding: Finding = { found: new Map(), now: Number.POSITIVE_INFINITY, more: false }
  for (const { matched, filter } of mentions(sought.q)) {
    const { rows, now } = await store.search({ ...everything, ...limitedTo(scope, sought), ...filter })
    finding.now = Math.min(finding.now, now)
    finding.more ||= rows.length > limits.pageMaxItems
    for (const full of rows.slice(0, limits.pageMaxItems)) {
      finding.found.set(full.record.digest, foundRecord(full, matched, now))
    }
  }
  return finding
}

const everything: RecordFilter = {
  scope: null,
  class: null,
  consumer: null,
  state: null,
  keyPrefix: null,
  ref: null,
  source: null,
  seq: null,
  from: null,
  to: null,
  after: null,
  limit: limits.pageMaxItems + 1,
}

function limitedTo(scope: Scope, sought: Sought): Pick<RecordFilter, 'scope' | 'class' | 'consumer'> {
  return { scope: seesEverything(scope) ? null : [scope], class: sought.class, consumer: sought.consumer }
}

const SOURCE_SEQ = /^(.+)#(0|[1-9]\d{0,18})$/s

function mentions(q: string): { matched: LookupMatch; filter: Partial<RecordFilter> }[] {
  const found: { matched: LookupMatch; filter: Partial<RecordFilter> }[] = []
  if (Buffer.byteLength(q) <= limits.nameMaxBytes) found.push({ matched: 'reference', filter: { ref: q } })
  const [, source, seq] = SOURCE_SEQ.exec(q) ?? []
  if (source !== undefined && seq !== undefined && BigInt(seq) <= limits.seqMax) {
    found.push({ matched: 'source_seq', filter: { source, seq } })
  }
  return found
}

/** Without payload and result, which no answer about a verdict needs. */
function foundRecord({ record, duplicates }: FullRecord, matched: LookupMatch, now: number): FoundRecord {
  return { record: { ...record, result: null }, duplicates, matched, now }
}
