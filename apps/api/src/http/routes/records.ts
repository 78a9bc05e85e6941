import { limits, type RecordListQuery, routes } from '@ranbook/contract'
import { parseRecordId, recordId } from '@ranbook/rules'
import { getRecord } from '../../ledger/get-record.ts'
import { type RecordQuery, searchRecords } from '../../ledger/search-records.ts'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { HttpDeps } from '../http-deps.ts'
import { parseQuery } from '../parse-query.ts'
import { notFound } from '../parse-settlement.ts'
import { pathParam } from '../path-param.ts'
import { recordFileJson, recordRowJson } from '../write-record-file.ts'

/** More replays of one record than anybody reads at once. */
const replaysShown = 100

/** `GET /v1/records` and `GET /v1/records/{id}`. */
export function registerRecords(serve: Serve, { ledger, audit, replays }: HttpDeps): void {
  serve(routes.listRecords, async (call) => {
    const query = recordQuery(parseQuery(call, routes.listRecords.query))
    const { rows, last, now } = await searchRecords(ledger.store, call.caller.scope, query)
    const nextCursor = last === null ? null : encodeCursor(last.firstClaimedAt, last.digest)
    const data = rows.map((row) => recordRowJson(row, now))
    return jsonAnswer(`{"data":[${data.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}}`)
  })

  serve(routes.getRecord, async (call) => {
    const id = parseRecordId(pathParam(call, 'id'))
    const file = id === null ? null : await getRecord(ledger, call.caller.scope, id)
    if (file === null) throw notFound()
    const shownId = recordId(file.full.record)
    const [lines, replayed] = await Promise.all([audit.ofRecord(shownId), replays.ofRecord(shownId, replaysShown)])
    return jsonAnswer(recordFileJson(file, lines, replayed))
  })
}

function recordQuery(given: RecordListQuery): RecordQuery {
  return {
    class: given.class ?? null,
    consumer: given.consumer ?? null,
    state: given.state ?? null,
    keyPrefix: given.key_prefix ?? null,
    ref: given.ref ?? null,
    source: given.source ?? null,
    seq: null,
    from: given.from === undefined ? null : Date.parse(given.from),
    to: given.to === undefined ? null : Date.parse(given.to),
    after: given.cursor === undefined ? null : decodeCursor(given.cursor),
    limit: given.limit ?? limits.pageDefaultItems,
  }
}
