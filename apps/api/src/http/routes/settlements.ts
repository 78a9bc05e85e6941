import { errorCodes, limits, type Route, routes, settlementsEnvelopeSchema } from '@ranbook/contract'
import { JsonRefusal } from '@ranbook/rules'
import { type SettleAnswer, type SettleItem, settle } from '../../ledger/settle.ts'
import { jsonAnswer } from '../answer.ts'
import type { Call, Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { notFound, type SettleVerb, settleBatchItemOf, settleItemOf, settlementShape } from '../parse-settlement.ts'
import { pathParam } from '../path-param.ts'
import { HttpProblem, problemJson } from '../problem.ts'
import { problemOfError } from '../problem-of-error.ts'
import { readJsonBody } from '../read-body.ts'
import { timeText } from '../time-text.ts'
import { validate } from '../validate.ts'
import { recordJson } from '../write-record.ts'

/** Complete, fail, extend and release, one by one and as `POST /v1/settlements`. */
export function registerSettlements(serve: Serve, deps: HttpDeps): void {
  const serveVerb = (route: Route, verb: SettleVerb): void => {
    serve(route, async (call) => {
      const body = await readJsonBody(call, { shape: settlementShape })
      const item = settleItemOf(pathParam(call, 'id'), verb, body)
      const [answer] = await settle(deps.ledger, call.caller.scope, [item])
      const members = settledMembers(verb, answer as SettleAnswer)
      return jsonAnswer(verb === 'extend' ? `{${members}}` : members)
    })
  }
  serveVerb(routes.complete, 'complete')
  serveVerb(routes.fail, 'fail')
  serveVerb(routes.extend, 'extend')
  serveVerb(routes.release, 'release')

  serve(routes.settlements, async (call) => {
    const shape = { settlements: [settlementShape] } as const
    const body = await readJsonBody(call, { maxBytes: limits.batchBodyMaxBytes, shape })
    const { settlements } = validate(settlementsEnvelopeSchema, body)
    const results = await settleEach(deps, call, settlements)
    return jsonAnswer(`{"results":[${results.join(',')}]}`)
  })
}

/** The record as JSON text, or the members of a lease where the verb is extend. Throws where the settle was refused. */
function settledMembers(verb: SettleVerb, answer: SettleAnswer): string {
  switch (answer.kind) {
    case 'not_found':
      throw notFound()
    case 'refused':
      throw refusal(answer)
    case 'settled': {
      const { record, now } = answer
      if (verb !== 'extend') return recordJson(record, now)
      const expiresAt = record.leaseExpiresAt ?? now
      return `"lease_expires_at":"${timeText(expiresAt)}","lease_remaining_ms":${Math.max(0, expiresAt - now)}`
    }
  }
}

function refusal({ code, record, now }: Extract<SettleAnswer, { kind: 'refused' }>): HttpProblem {
  const members = code === 'stale_claim' ? { current: recordJson(record, now) } : {}
  return new HttpProblem(code, errorCodes[code].meaning, { members })
}

/** JSON text per item, in order. A fault of one item is that item's answer. */
async function settleEach(deps: HttpDeps, call: Call, given: readonly unknown[]): Promise<string[]> {
  const texts: string[] = new Array(given.length)
  const failWith = (error: unknown): string => {
    const problem = problemOfError(error, deps.log, routes.settlements.path, call.requestId)
    return `{"ok":false,"problem":${problemJson(problem, call.requestId)}}`
  }
  const items: SettleItem[] = []
  const places: number[] = []
  for (const [at, value] of given.entries()) {
    try {
      if (value instanceof JsonRefusal) throw new HttpProblem(value.code, value.detail)
      items.push(settleBatchItemOf(value))
      places.push(at)
    } catch (error) {
      texts[at] = failWith(error)
    }
  }
  if (items.length === 0) return texts
  try {
    for (const [index, answer] of (await settle(deps.ledger, call.caller.scope, items)).entries()) {
      texts[places[index] as number] = itemText(items[index] as SettleItem, answer, failWith)
    }
  } catch (error) {
    // The store answers for all of a call or for none; each item says so, and is repeated as it was.
    const text = failWith(error)
    for (const at of places) texts[at] = text
  }
  return texts
}

function itemText({ command }: SettleItem, answer: SettleAnswer, failWith: (error: unknown) => string): string {
  try {
    const members = settledMembers(command.verb, answer)
    return command.verb === 'extend' ? `{"ok":true,${members}}` : `{"ok":true,"record":${members}}`
  } catch (error) {
    return failWith(error)
  }
}
