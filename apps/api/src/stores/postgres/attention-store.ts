import type {
  AttentionBounds,
  AttentionRecord,
  AttentionStore,
  Found,
  MismatchCount,
  NewConsumer,
  RecordAttention,
  Scope,
} from '@ranbook/rules'
import * as statement from './attention-statements.ts'
import type { ColdConnections } from './cold-connections.ts'
import { likePatterns } from './like-patterns.ts'
import { onlyRow } from './only-row.ts'
import { causeCodes, stateCodes, wordsOf } from './record-codes.ts'
import { type PolicyRow, storedPolicy } from './stored-policy.ts'

const stateOf = wordsOf(stateCodes)
const causeOf = wordsOf(causeCodes)

type RecordRow = {
  kind: RecordAttention
  id: string
  class: string
  consumer: string
  key: string
  state: number
  cause: number | null
  attempt: number
  error: string | null
  since: number
}
type Span = { count: number; first_at: number; last_at: number }
type LateRow = Pick<RecordRow, 'id' | 'class' | 'consumer' | 'key' | 'state'> & Span
type MismatchRow = { record_id: string } & Omit<MismatchCount, 'recordId' | 'firstAt' | 'lastAt'> & Span
type ConsumerRow = Pick<NewConsumer, 'class' | 'consumer'> & { first_seen_at: number; known_since: number }
type ClassRow = { class: string; first_seen_at: number }

/** What people should look at, from Postgres. */
export function createAttentionStore({ reads }: Pick<ColdConnections, 'reads'>): AttentionStore {
  const ask = <Answer extends object>(text: string, scope: Scope, { lookedAt, shown }: AttentionBounds) =>
    reads.use(async (session) => {
      const parameters = [JSON.stringify(likePatterns(scope.classes)), scope.consumer, lookedAt, shown]
      return onlyRow(await session.unsafe<Answer[]>(text, parameters))
    })

  const find = async <Raw, Row>(
    text: string,
    scope: Scope,
    bounds: AttentionBounds,
    rowOf: (raw: Raw) => Row,
  ): Promise<Found<Row>> => {
    const answer = await ask<{ count: number; more: boolean; shown: string }>(text, scope, bounds)
    const { count, more, shown } = answer
    return { count, more, rows: (JSON.parse(shown) as Raw[]).map(rowOf) }
  }

  return {
    async records(scope, bounds) {
      const answer = await ask<RecordsAnswer>(statement.READ_ATTENTION_RECORDS, scope, bounds)
      return recordsFound(answer)
    },

    lateCompletions: (scope, bounds) =>
      find(statement.READ_LATE_COMPLETIONS, scope, bounds, (row: LateRow) => ({
        digest: digestOf(row),
        class: row.class,
        consumer: row.consumer,
        key: row.key,
        state: stateOf(row.state),
        ...spanOf(row),
      })),

    mismatches: (scope, bounds) =>
      find(statement.READ_MISMATCHES, scope, bounds, (row: MismatchRow) => ({
        recordId: row.record_id,
        class: row.class,
        consumer: row.consumer,
        key: row.key,
        ...spanOf(row),
      })),

    newConsumers: (scope, bounds) =>
      find(statement.READ_NEW_CONSUMERS, scope, bounds, (row: ConsumerRow) => ({
        class: row.class,
        consumer: row.consumer,
        firstSeenAt: row.first_seen_at,
        knownSince: row.known_since,
      })),

    unreviewedClasses: (scope, bounds) =>
      find(statement.READ_UNREVIEWED_CLASSES, scope, bounds, (row: ClassRow) => ({
        class: row.class,
        firstSeenAt: row.first_seen_at,
      })),

    async policies(scope) {
      const patterns = JSON.stringify(likePatterns(scope.classes))
      const rows = await reads.use((session) =>
        session.unsafe<PolicyRow[]>(statement.READ_POLICIES_IN_SCOPE, [patterns]),
      )
      return rows.map(storedPolicy)
    },
  }
}

type RecordsAnswer = { counts: string; more: string; shown: string }

function recordsFound(answer: RecordsAnswer): Record<RecordAttention, Found<AttentionRecord>> {
  const none = (): Found<AttentionRecord> => ({ rows: [], count: 0, more: false })
  const found = { held: none(), dead: none(), interrupted: none(), failed: none(), ready: none() }
  for (const { kind, count } of JSON.parse(answer.counts) as { kind: RecordAttention; count: number }[]) {
    found[kind].count = count
  }
  for (const kind of JSON.parse(answer.more) as RecordAttention[]) found[kind].more = true
  for (const row of JSON.parse(answer.shown) as RecordRow[]) found[row.kind].rows.push(attentionRecord(row))
  return found
}

function attentionRecord(row: RecordRow): AttentionRecord {
  return {
    digest: digestOf(row),
    class: row.class,
    consumer: row.consumer,
    key: row.key,
    state: stateOf(row.state),
    cause: row.cause === null ? null : causeOf(row.cause),
    attempt: row.attempt,
    error: row.error,
    since: row.since,
  }
}

function digestOf({ id }: { id: string }): string {
  return id.replaceAll('-', '')
}

function spanOf({ count, first_at, last_at }: Span): { count: number; firstAt: number; lastAt: number } {
  return { count, firstAt: first_at, lastAt: last_at }
}
