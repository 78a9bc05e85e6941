import {
  type Change,
  type ClaimStore,
  completedFields,
  firstGrant,
  forgottenAt,
  type InsertOutcome,
  type LedgerRecord,
  type NewRecord,
  StoreError,
  type WindowPlace,
} from '@ranbook/rules'
import { distinctRounds, type Placed } from '../distinct-rounds.ts'
import type { Cell, CellPort, CellSwap } from './cell-port.ts'
import { isSpent, withToken } from './spent-tokens.ts'
import { decodeCell, encodeBody, keptRecord, type WindowContent, type WindowRecord } from './window-codec.ts'

/** A cell that changes as often while it is to be completed is in no race any more. */
const roundsMax = 12

const nothingSpent = Buffer.alloc(0)

/**
 * A window over the cells of that place. It keeps what dedupes and what an owner and a duplicate are answered, see
 * `keptRecord`; `fill` and `audit` of a change are not kept, and of an archived attempt only that its token is spent.
 */
export function createWindowStore(cells: CellPort, place: WindowPlace): ClaimStore {
  async function readContents(digests: readonly string[]): Promise<((WindowContent & { now: number }) | null)[]> {
    const found = await cells.read(digests)
    return found.map((one, at) =>
      one === null ? null : { ...decodeCell(digests[at] ?? '', place, one.cell), now: one.now },
    )
  }

  /** The changes with the tokens that are spent by then; null where another version stands already. */
  async function withSpent(round: readonly Placed<GuardedChange>[]): Promise<(Buffer | null)[]> {
    // Nobody was displaced in a version 1, so nothing has to be read for it.
    const later = round.filter(({ item }) => item.change.expectVersion > 1)
    const found = later.length === 0 ? [] : await readContents(later.map(({ item }) => item.digest))
    const contents = new Map(later.map((placed, at) => [placed, found[at] ?? null]))
    return round.map((placed) => {
      const { change } = placed.item
      const content = contents.get(placed)
      if (content === null || (content && content.record.version !== change.expectVersion)) return null
      const spent = content?.spent ?? nothingSpent
      return change.archive === null ? spent : withToken(spent, change.archive.claimToken)
    })
  }

  return {
    async insertIfAbsent(records) {
      const firsts = new Map<string, NewRecord>()
      for (const record of records) {
        if (!firsts.has(record.request.digest)) firsts.set(record.request.digest, record)
      }
      const tried = [...firsts.values()]
      const outcomes = tried.length === 0 ? [] : await cells.insert(tried.map(insertOf))
      const standing = new Map(tried.map((record, at) => [record.request.digest, outcomes[at]]))
      return records.map((record): InsertOutcome => {
        const { digest, claimToken } = record.request
        const outcome = standing.get(digest)
        if (outcome === undefined) throw new TypeError('every item is answered')
        const { cell, now } = outcome
        const content = decodeCell(digest, place, cell)
        const inserted = outcome.inserted && firsts.get(digest) === record
        // The same object may be given twice: only one of both inserts.
        if (inserted) firsts.delete(digest)
        return { inserted, record: content.record, tokenSpent: isSpent(content.spent, claimToken), now }
      })
    },

    async read(requests) {
      if (requests.length === 0) return []
      const contents = await readContents(requests.map(({ digest }) => digest))
      return contents.map((content, at) => {
        if (content === null) return null
        const { record, spent, now } = content
        return { record, tokenSpent: isSpent(spent, requests[at]?.claimToken ?? null), now }
      })
    },

    async compareAndSet(changes) {
      const outcomes: ({ record: LedgerRecord } | null)[] = new Array(changes.length).fill(null)
      const items = changes.map((change) => ({ digest: change.record.digest, change }))
      for (const round of distinctRounds(items, ({ change }) => change.expectVersion)) {
        const spent = await withSpent(round)
        const writes = round.flatMap(({ item: { change }, at }, index) => {
          const tokens = spent[index]
          return tokens ? [{ at, ...swapOf(change, tokens) }] : []
        })
        if (writes.length === 0) continue
        const swapped = await cells.swap(writes.map(({ swap }) => swap))
        for (const [index, { at, record }] of writes.entries()) {
          const written = swapped[index]
          if (written) outcomes[at] = { record: { ...record, fencingToken: written.fencingToken } }
        }
      }
      return outcomes
    },

    async completeClaimed(requests) {
      const outcomes: ({ record: LedgerRecord; now: number } | null)[] = new Array(requests.length).fill(null)
      const rounds = distinctRounds(requests, ({ claimToken, consumer }) => `${claimToken} ${consumer ?? ''}`)
      for (const round of rounds) {
        let open = round
        for (let tries = 0; open.length > 0; tries++) {
          if (tries === roundsMax)
            throw new StoreError('overloaded', 'a record changed faster than it could be completed')
          const contents = await readContents(open.map(({ item }) => item.digest))
          const writes = open.flatMap((placed, index) => {
            const content = contents[index] ?? null
            const { claimToken, consumer, result } = placed.item
            if (content?.record.state !== 'claimed' || content.record.claimToken !== claimToken) return []
            const { record: standing, spent, now } = content
            if (consumer !== null && consumer !== standing.consumer) return []
            const version = standing.version + 1
            const record = { ...standing, version, ...completedFields(result, now) }
            return [{ placed, now, ...swapOf({ record, expectVersion: standing.version, grants: false }, spent) }]
          })
          const swapped = writes.length === 0 ? [] : await cells.swap(writes.map(({ swap }) => swap))
          open = []
          for (const [index, { placed, record, now }] of writes.entries()) {
            if (swapped[index]) outcomes[placed.at] = { record, now }
            else open.push(placed)
          }
        }
      }
      return outcomes
    },
  }
}

type GuardedChange = { digest: string; change: Change }

/** The cell of a first grant. Its times are those of its fencing number, which the store draws by its own clock. */
function insertOf(grant: NewRecord) {
  const record = keptRecord(windowed(firstGrant(grant, 0, 0)))
  return {
    id: record.digest,
    body: encodeBody(record, nothingSpent, 'known'),
    lastsMs: grant.leaseMs + record.window.ms,
  }
}

/** What is written for a change, and the record that then stands but for its fencing number. */
function swapOf(
  { record: changed, expectVersion, grants }: Pick<Change, 'record' | 'expectVersion' | 'grants'>,
  spent: Buffer,
): { swap: CellSwap; record: WindowRecord } {
  const record = keptRecord(windowed(changed))
  const body = encodeBody(record, spent, grants ? 'drawn' : 'known')
  // A change names the fencing number of the version it was made of: the store alone makes a new one.
  const expected: Pick<Cell, 'version' | 'fencingToken'> = { version: expectVersion, fencingToken: record.fencingToken }
  const expiresAt = forgottenAt(record) ?? record.claimedAt
  return { swap: { id: record.digest, expected, grants, body, expiresAt }, record }
}

function windowed(record: LedgerRecord): WindowRecord {
  if (record.window === null) throw new TypeError('a record of the ledger does not belong into a window')
  return { ...record, window: record.window }
}
