import { type LedgerRecord, parseRecordId, type ReplayRules, type ReplayTarget, unfiltered } from '@ranbook/rules'
import type { Session } from './lane.ts'
import { causeCodes, stateCodes } from './record-codes.ts'
import { type RecordRow, recordOf } from './record-row.ts'
import { type ReplayRow, storedReplay } from './replay-row.ts'
import * as statement from './replay-statements.ts'
import { searchConditions } from './search-conditions.ts'
import { storedDigest } from './stored-fields.ts'

type Transaction = Pick<Session, 'unsafe'>

type Standing = NonNullable<ReplayTarget['standing']>

/** What a replay meets next; `at` is where a filter goes on behind it. */
type Met = { recordId: string; at: { time: number; digest: string } | null }

/** See `ReplayStore.step`; `at` is told whose turn it is. In one transaction: what is killed in the middle has done nothing. */
export async function stepReplay(
  transaction: Transaction,
  limit: number,
  rules: ReplayRules,
  at: (id: string) => void,
): Promise<string | null> {
  const [row] = await transaction.unsafe<(ReplayRow & { now: number })[]>(statement.LOCK_NEXT)
  if (row === undefined) return null
  at(row.id)
  await (row.state === 'running'
    ? armNext(transaction, row, limit, rules)
    : putBackNext(transaction, row, limit, rules))
  return row.id
}

async function armNext(
  transaction: Transaction,
  row: ReplayRow & { now: number },
  limit: number,
  rules: ReplayRules,
): Promise<void> {
  const replay = storedReplay(row)
  const met = await nextOf(transaction, row, limit)
  const records = await lockRecords(transaction, met)
  const targets = met.map(({ recordId }): ReplayTarget => ({ recordId, standing: records.get(recordId) ?? null }))
  const writes = rules.arm(replay, targets, row.now)
  if (writes === null) {
    await transaction.unsafe(statement.SET_STATE, [row.id, 'awaiting_approval', null, null])
    return
  }
  await writeRecords(
    transaction,
    writes.flatMap((write) => ('record' in write ? [write.record] : [])),
  )
  const items = writes.map((write, index) => ({
    place: row.place + index + 1,
    record_id: targets[index]?.recordId,
    outcome: 'record' in write ? 'armed' : write.leftOut,
  }))
  const armed = writes.filter((write) => 'record' in write).length
  if (items.length > 0) await transaction.unsafe(statement.ADD_ITEMS, [row.id, JSON.stringify(items)])
  const last = met.at(-1)?.at
  await transaction.unsafe(statement.NOTE_MET, [
    row.id,
    row.place + met.length,
    armed,
    met.length - armed,
    last?.time ?? row.after_time,
    last?.digest ?? row.after_id,
  ])
  if (row.delivery === 'push') {
    const pushes = items.filter(({ outcome }) => outcome === 'armed')
    if (pushes.length > 0) await transaction.unsafe(statement.ADD_PUSHES, [row.id, JSON.stringify(pushes)])
    if (met.length < limit) {
      await transaction.unsafe(statement.MARK_ALL_MET, [row.id])
      await transaction.unsafe(statement.FINISH_PUSHED, [row.id])
    }
  } else if (met.length < limit) {
    await transaction.unsafe(statement.SET_STATE, [row.id, 'finished', row.approved_by, null])
  }
}

async function nextOf(transaction: Transaction, row: ReplayRow, limit: number): Promise<Met[]> {
  const { selection, scope, createdAt } = storedReplay(row)
  if ('recordIds' in selection) {
    return selection.recordIds.slice(row.place, row.place + limit).map((recordId) => ({ recordId, at: null }))
  }
  const { filter } = selection
  // What came later was not meant, and what it does would be met for ever.
  const to = Math.min(filter.to ?? createdAt, createdAt)
  const { texts, parameters } = searchConditions({ ...unfiltered, ...filter, to, scope: [scope], limit })
  const after = `(r.first_claimed_at, r.id) > (to_timestamp($${parameters.length + 1}::float8 / 1000), $${parameters.length + 2}::uuid)`
  const found = await transaction.unsafe<{ id: string; time: number }[]>(
    `SELECT r.id::text AS id, floor(extract(epoch FROM r.first_claimed_at) * 1000)::float8 AS time
FROM record AS r WHERE ${texts.join(' AND ')} AND ${after}
ORDER BY r.first_claimed_at, r.id LIMIT $${parameters.length + 3}::int`,
    [...parameters, row.after_time ?? 0, row.after_id ?? nilUuid, limit],
  )
  return found.map(({ id, time }) => {
    const digest = storedDigest(id)
    return { recordId: `rec_${digest}`, at: { time, digest } }
  })
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

async function putBackNext(transaction: Transaction, row: ReplayRow, limit: number, rules: ReplayRules): Promise<void> {
  const replay = storedReplay(row)
  const armed = await transaction.unsafe<{ place: number; record_id: string }[]>(statement.READ_ARMED, [
    row.id,
    row.put_back_place,
    limit,
  ])
  const records = await lockRecords(
    transaction,
    armed.map(({ record_id }) => ({ recordId: record_id, at: null })),
  )
  const back = armed.flatMap(({ place, record_id }) => {
    const standing = records.get(record_id)
    const record = standing === undefined ? null : rules.putBack(replay, standing.record)
    return record === null ? [] : [{ place, record }]
  })
  await writeRecords(
    transaction,
    back.map(({ record }) => record),
  )
  if (back.length > 0) {
    await transaction.unsafe(statement.MARK_PUT_BACK, [row.id, JSON.stringify(back.map(({ place }) => place))])
  }
  await transaction.unsafe(statement.NOTE_PUT_BACK, [row.id, armed.at(-1)?.place ?? row.put_back_place, back.length])
  await transaction.unsafe(statement.DROP_PUSHES, [row.id])
  if (armed.length < limit) await transaction.unsafe(statement.SET_STATE, [row.id, 'cancelled', row.approved_by, null])
}

/** The records of the ledger that stand, by their public id. */
async function lockRecords(transaction: Transaction, met: readonly Met[]): Promise<Map<string, Standing>> {
  const digests = met.flatMap(({ recordId }) => {
    const id = parseRecordId(recordId)
    return id?.store === 'ledger' ? [id.digest] : []
  })
  if (digests.length === 0) return new Map()
  const rows = (await transaction
    .unsafe(statement.LOCK_RECORDS, [JSON.stringify(digests)])
    .values()) as unknown as (readonly [hasPayload: boolean, id: string, ...record: RecordRow])[]
  return new Map(
    rows.map(([hasPayload, id, ...row]) => {
      const digest = storedDigest(id)
      return [`rec_${digest}`, { record: recordOf(digest, row), hasPayload }]
    }),
  )
}

async function writeRecords(transaction: Transaction, records: readonly LedgerRecord[]): Promise<void> {
  if (records.length === 0) return
  const rows = records.map((record) => ({
    id: record.digest,
    version: record.version,
    state: stateCodes[record.state],
    cause: record.cause && causeCodes[record.cause],
    lease_expires_at: seconds(record.leaseExpiresAt),
    ended_at: seconds(record.endedAt),
    available_at: seconds(record.availableAt),
    replay: record.replay,
  }))
  const { count } = await transaction.unsafe(statement.WRITE_RECORDS, [JSON.stringify(rows)])
  if (count !== records.length) throw new Error(`${count} of ${records.length} locked records were written`)
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000
}
