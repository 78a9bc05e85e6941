import { errorCodes, limits, type Route, routes, settlementsEnvelopeSchema } from '@ranbook/contract'
import { onlyAnswer } from '../../ledger/item-failure.ts'
import { type SettleAnswer, type SettleItem, settle } from '../../ledger/settle.ts'
import { jsonAnswer } from '../answer.ts'
import { batchAnswer } from '../batch-answer.ts'
import type { Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { notFound, type SettleVerb, settleBatchItemOf, settleItemOf, settlementShape } from '../parse-settlement.ts'
import { pathParam } from '../path-param.ts'
import { HttpProblem } from '../problem.ts'
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
      const answer = onlyAnswer(await settle(deps.ledger, call.caller.scope, [item]))
      const members = settledMembers(verb, answer)
      return jsonAnswer(verb === 'extend' ? `{${members}}` : members)
    })
  }
  serveVerb(routes.complete, 'complete')
  serveVerb(routes.fail, 'fail')
  serveVerb(routes.extend, 'extend')
  serveVerb(routes.release, 'release')

  serve(routes.settlements, async (call) => {
    const shape = { settlements: [settlementShape, limits.batchMaxItems] } as const
    const body = await readJsonBody(call, { maxBytes: limits.batchBodyMaxBytes, shape })
    return batchAnswer<SettleItem, SettleAnswer>(deps, call, {
      route: routes.settlements,
      list: 'results',
      refused: '"ok":false',
      items: validate(settlementsEnvelopeSchema, body).settlements,
      parse: settleBatchItemOf,
      ask: (items, { scope }) => settle(deps.ledger, scope, items),
      write: itemText,
    })
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

/** JSON text of one item of a batch. Throws where the settle was refused. */
function itemText(answer: SettleAnswer, { command }: SettleItem): string {
  const members = settledMembers(command.verb, answer)
  return command.verb === 'extend' ? `{"ok":true,${members}}` : `{"ok":true,"record":${members}}`
}
