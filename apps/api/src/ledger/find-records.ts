import { type LookupMatch, limits, type RecordState } from '@ranbook/contract'
import {
  isLeaseLive,
  type LedgerRecord,
  type ListedRecord,
  parseIdempotencyKey,
  parseRecordId,
  type RecordFilter,
  type RecordStore,
  recordDigest,
  type Scope,
  type SeenPair,
  StoreError,
  seesEverything,
  unfiltered,
  visibleState,
  type WindowPlace,
} from '@ranbook/rules'
import type { FoundRecord } from './describe-records.ts'
import { IdentityCollision } from './identity-collision.ts'
import type { Windows } from './windows.ts'

/** Where records are looked for. */
export type Stores = { store: Pick<RecordStore, 'search'>; windows: Pick<Windows, 'storeAt'> }

/** What is looked for: a text, and the class and consumer it is limited to. */
export type Sought = { q: string; class: string | null; consumer: string | null }

/**
 * `found` by place and digest, as an outage may leave a key in two. `now` is the store's clock at the first read. `more`: more records match than were found; none of them outweighs those
 * that were, but that one of them may be running where `mayRun`.
 */
export type Finding = { found: Map<string, FoundRecord>; now: number; more: boolean; mayRun: boolean }

const emptyFinding = (): Finding => ({ found: new Map(), now: Number.POSITIVE_INFINITY, more: false, mayRun: false })

/** A statement with more takes so long that other readers would be refused meanwhile. */
const digestsPerRead = 200

/** A pair, and the places of windows in which a record of its class may stand. */
export type AskedPair = Omit<SeenPair, 'firstSeenAt'> & { places: readonly WindowPlace[] }

/**
 * Records with this key for the pairs given, byte for byte. `unreachable`: classes of which a window could not be asked.
 * Throws `IdentityCollision` where a digest stands for another.
 */
export async function findByKey(
  { store, windows }: Stores,
  key: string,
  pairs: readonly AskedPair[],
): Promise<Finding & { unreachable: Set<string> }> {
  const asked = new Map(pairs.map((pair) => [recordDigest(pair.consumer, pair.class, key), pair]))
  const matchOf = (record: Pick<LedgerRecord, 'digest' | 'consumer' | 'class' | 'key'>): LookupMatch => {
    const pair = asked.get(record.digest)
    if (pair !== undefined) IdentityCollision.refuse(record, { ...pair, key })
    return 'key'
  }
  const finding = { ...emptyFinding(), unreachable: new Set<string>() }
  await addFromLedger(finding, store, [...asked.keys()], matchOf)
  for (const place of windowPlaces) {
    const inPlace = [...asked].filter(([, pair]) => pair.places.includes(place))
    const digests = inPlace.map(([digest]) => digest)
    if (await addFromWindow(finding, windows, place, digests, matchOf)) continue
    for (const [, pair] of inPlace) finding.unreachable.add(pair.class)
  }
  return finding
}

/**
 * The records whose id or idempotency key (with or without a label) the text is, wherever they stand: both name the
 * event, which may have changed its store. A window that can't be asked is passed over.
 */
export async function findById({ store, windows }: Stores, text: string): Promise<Finding> {
  const byId = parseRecordId(text)
  const digest = byId?.digest ?? parseIdempotencyKey(text)?.digest
  const finding = emptyFinding()
  if (digest === undefined) return finding
  const matchOf = (): LookupMatch => (byId === null ? 'idempotency_key' : 'id')
  await addFromLedger(finding, store, [digest], matchOf)
  for (const place of windowPlaces) await addFromWindow(finding, windows, place, [digest], matchOf)
  return finding
}

/** In the order they are asked in, see `Windows`. */
const windowPlaces = ['postgres', 'redis'] as const satisfies readonly WindowPlace[]

async function addFromLedger(
  finding: Finding,
  store: Pick<RecordStore, 'search'>,
  digests: readonly string[],
  matchOf: (record: ListedRecord['record']) => LookupMatch,
): Promise<void> {
  for (let from = 0; from < digests.length; from += digestsPerRead) {
    const part = digests.slice(from, from + digestsPerRead)
    const { rows, now } = await store.search({ ...everything, digests: part, limit: part.length })
    finding.now = Math.min(finding.now, now)
    for (const listed of rows) add(finding, foundRecord(listed, matchOf(listed.record), now))
  }
}

/** False where the place can't be asked. */
async function addFromWindow(
  finding: Finding,
  windows: Stores['windows'],
  place: WindowPlace,
  digests: readonly string[],
  matchOf: (record: LedgerRecord) => LookupMatch,
): Promise<boolean> {
  try {
    for (let from = 0; from < digests.length; from += digestsPerRead) {
      const requests = digests.slice(from, from + digestsPerRead).map((digest) => ({ digest, claimToken: null }))
      for (const outcome of await windows.storeAt(place).read(requests)) {
        if (outcome === null) continue
        const { record, now } = outcome
        add(finding, { record: { ...record, result: null }, duplicates: null, matched: matchOf(record), now })
      }
    }
    return true
  } catch (error) {
    if (error instanceof StoreError) return false
    throw error
  }
}

function add(finding: Finding, item: FoundRecord): void {
  finding.found.set(`${item.record.window?.place ?? 'ledger'}:${item.record.digest}`, item)
}

/**
 * Records that carry the text as a reference, or as `source#seq`: the newest `pageMaxItems` of each, and where there are
 * more, one of those that outweigh them (`overallVerdict`), so that no run is left out for its age.
 */
export async function findByMention(
  store: Pick<RecordStore, 'search'>,
  scope: Scope,
  sought: Sought,
): Promise<Finding> {
  const finding = emptyFinding()
  for (const { matched, filter } of mentions(sought.q)) {
    const look = async (more: Partial<RecordFilter>): Promise<FoundRecord[]> => {
      const { rows, now } = await store.search({ ...everything, ...limitedTo(scope, sought), ...filter, ...more })
      finding.now = Math.min(finding.now, now)
      return rows.map((listed) => foundRecord(listed, matched, now))
    }
    const take = (items: readonly FoundRecord[]): void => {
      for (const item of items) add(finding, item)
    }
    const newest = await look({})
    const page = newest.slice(0, limits.pageMaxItems)
    take(page)
    if (newest.length > page.length) {
      finding.more = true
      for (const state of statesAbove(page)) {
        const standing = await look({ state, limit: state === 'claimed' ? everything.limit : 1 })
        const running = standing.filter(isRunning)
        take(running.length > 0 ? running.slice(0, 1) : standing.slice(0, 1))
        finding.mayRun ||= running.length === 0 && standing.length > limits.pageMaxItems
      }
    }
  }
  return finding
}

/** Lightest first: a record that goes on while they are looked for goes up, and `completed` is never left. */
const statesByWeight = ['skipped', 'ready', 'dead', 'failed', 'held', 'claimed', 'completed'] as const

/** The states whose records may outweigh those given; behind a claim whose lease is over another one may be running. */
function statesAbove(items: readonly FoundRecord[]): readonly RecordState[] {
  const weights = items.map((item) => {
    const state = visibleState(item.record, item.now)
    return statesByWeight.indexOf(state) - (state === 'claimed' && !isRunning(item) ? 1 : 0)
  })
  return statesByWeight.slice(Math.max(...weights) + 1)
}

function isRunning({ record, now }: FoundRecord): boolean {
  return isLeaseLive(record, now)
}

const everything: RecordFilter = {
  ...unfiltered,
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

/** No answer about a verdict needs the result. */
function foundRecord({ record, duplicates }: ListedRecord, matched: LookupMatch, now: number): FoundRecord {
  return { record: { ...record, result: null }, duplicates, matched, now }
}
