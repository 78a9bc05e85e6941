import {
  completeRequestSchema,
  extendRequestSchema,
  failRequestSchema,
  limits,
  releaseRequestSchema,
  type SettlementInput,
  settlementItemSchema,
} from '@ranbook/contract'
import { type JsonShape, type ParsedRecordId, parseRecordId, type SettleCommand } from '@ranbook/rules'
import type { SettleItem } from '../ledger/settle.ts'
import { cutText } from './cut-text.ts'
import { opaqueText } from './opaque.ts'
import { HttpProblem } from './problem.ts'
import { validate } from './validate.ts'

/** What of a settlement's body stays text. */
export const settlementShape: JsonShape = { result: 'text', error: { detail: 'text' } }

export type SettleVerb = SettleCommand['verb']

/** What the contract says of a settlement beside the record's id. */
type Settlement = SettlementInput extends infer Item ? (Item extends { id: string } ? Omit<Item, 'id'> : never) : never

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** The settlement in the body of `POST /v1/claims/{id}/<verb>`. Throws 404 for an id that is none, 400, 413. */
export function settleItemOf(id: string, verb: SettleVerb, body: unknown): SettleItem {
  return toItem(id, settlementOf(verb, body))
}

/** One item of `POST /v1/settlements`. Throws like `settleItemOf`. */
export function settleBatchItemOf(value: unknown): SettleItem {
  const item = validate(settlementItemSchema, value)
  return toItem(item.id, item)
}

function settlementOf(verb: SettleVerb, body: unknown): Settlement {
  switch (verb) {
    case 'complete':
      return { action: verb, ...(isPlainComplete(body) ? body : validate(completeRequestSchema, body)) }
    case 'fail':
      return { action: verb, ...validate(failRequestSchema, body) }
    case 'extend':
      return { action: verb, ...validate(extendRequestSchema, body) }
    case 'release':
      return { action: verb, ...validate(releaseRequestSchema, body) }
  }
}

/**
 * May say yes only to what the schema takes as it stands; on no the schema judges. Completes are half of all requests,
 * the other verbs are rare.
 */
export function isPlainComplete(body: unknown): body is { claim_token: string; result?: unknown } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  let hasToken = false
  for (const name in body) {
    const value = (body as Record<string, unknown>)[name]
    if (name === 'claim_token' && typeof value === 'string' && UUID.test(value)) hasToken = true
    else if (name !== 'result') return false
  }
  return hasToken
}

function toItem(id: string, settlement: Settlement): SettleItem {
  const parsed = parseRecordId(id)
  if (parsed === null) throw notFound()
  return { ...parsed, claimToken: settlement.claim_token, command: commandOf(settlement, resultMaxBytes(parsed)) }
}

/** No such record, or one outside the caller's scope: the two can't be told apart. */
export function notFound(): HttpProblem {
  return new HttpProblem('not_found', 'No record with this id is in the scope of the API key.')
}

/** The largest result that the store of a record keeps, as JSON text. */
export function resultMaxBytes({ store }: Pick<ParsedRecordId, 'store'>): number {
  return store === 'window' ? limits.windowResultMaxBytes : limits.opaqueMaxBytes
}

function commandOf(settlement: Settlement, resultBytes: number): SettleCommand {
  switch (settlement.action) {
    case 'complete':
      return { verb: 'complete', result: opaqueText(settlement.result, 'result', resultBytes) }
    case 'fail':
      return {
        verb: 'fail',
        error: errorJson(settlement.error),
        retryable: settlement.retryable ?? true,
        retryAfterMs: settlement.retry_after_ms ?? null,
      }
    case 'extend':
      return { verb: 'extend', leaseMs: settlement.lease_ms ?? null }
    case 'release':
      return { verb: 'release' }
  }
}

function errorJson({ message, code, detail }: Extract<Settlement, { action: 'fail' }>['error']): string {
  const members = [`"message":${JSON.stringify(cutText(message, limits.errorMessageMaxBytes))}`]
  if (code !== undefined) members.push(`"code":${JSON.stringify(code)}`)
  const detailText = opaqueText(detail, 'error.detail', limits.errorDetailMaxBytes)
  if (detailText !== null) members.push(`"detail":${detailText}`)
  return `{${members.join(',')}}`
}
