import type { FullRecord } from '@ranbook/rules'
import { type RecordRow, recordOf } from './record-row.ts'
import { splitRefs, storedDigest, storedTime } from './stored-fields.ts'

/** The columns of statements that read records with what people read, in their order; times in seconds. */
export type FullRow = readonly [
  now: number,
  /** Null in the one row that comes where no record is found. */
  id: string | null,
  payload: string | null,
  hasResult: boolean | null,
  refs: string | null,
  source: string | null,
  seq: string | null,
  occurredAt: number | null,
  duplicates: string | null,
  firstDuplicateAt: number | null,
  lastDuplicateAt: number | null,
  ...record: RecordRow,
]

/** The record of a row, and the columns that stand beside it; null for the row that comes where none is found. */
export function fullRecordOf(fullRow: FullRow): (FullRecord & { hasResult: boolean }) | null {
  const [, id, payload, hasResult, refs, source, seq, occurredAt, count, first, last, ...row] = fullRow
  if (id === null) return null
  const details = { payload, refs: splitRefs(refs), source, seq, occurredAt: storedTime(occurredAt) }
  const duplicates =
    count === null || first === null || last === null
      ? null
      : { count: Number(count), firstAt: storedTime(first), lastAt: storedTime(last) }
  return { record: recordOf(storedDigest(id), row), hasResult: hasResult === true, details, duplicates }
}

/** The store's clock in ms, which stands in every row. */
export function nowOf(rows: readonly FullRow[]): number {
  return storedTime(rows[0]?.[0] ?? Number.NaN)
}
