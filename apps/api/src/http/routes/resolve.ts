import { errorCodes, type ResolveInput, resolveRequestSchema, routes } from '@ranbook/contract'
import { type AuditEntry, parseRecordId } from '@ranbook/rules'
import { resolve } from '../../ledger/resolve.ts'
import { jsonAnswer } from '../answer.ts'
import type { Call, Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { opaqueText } from '../opaque.ts'
import { notFound, resultMaxBytes } from '../parse-settlement.ts'
import { pathParam } from '../path-param.ts'
import { HttpProblem } from '../problem.ts'
import { readJsonBody } from '../read-body.ts'
import { invalidRequest, validate } from '../validate.ts'
import { recordJson } from '../write-record.ts'

/** `POST /v1/records/{id}/resolve`: an operator says what became of a record. */
export function registerResolve(serve: Serve, { ledger, audit }: HttpDeps): void {
  serve(routes.resolveRecord, async (call) => {
    const target = pathParam(call, 'id')
    const id = parseRecordId(target)
    const body = validate(resolveRequestSchema, await readJsonBody(call, { shape: { result: 'text' } }))
    const result = opaqueText(body.result, 'result', id === null ? undefined : resultMaxBytes(id))
    if (result !== null && body.decision !== 'completed') {
      throw invalidRequest([{ path: 'result', message: 'belongs to the decision completed only' }])
    }
    if (id === null) throw notFound()
    const command = { decision: body.decision, result, endLiveClaim: body.end_live_claim ?? false }
    const answer = await resolve(
      { ...ledger, audit: audit.write },
      call.caller.scope,
      id,
      command,
      auditOf(call, target, body),
    )
    switch (answer.kind) {
      case 'not_found':
        throw notFound()
      case 'not_resolvable':
        throw new HttpProblem('not_resolvable', errorCodes.not_resolvable.meaning, {
          members: { current: recordJson(answer.record, answer.now) },
        })
      case 'resolved':
        return jsonAnswer(recordJson(answer.record, answer.now))
    }
  })
}

function auditOf(
  call: Call,
  target: string,
  { decision, reason, end_live_claim }: ResolveInput,
): Omit<AuditEntry, 'before'> {
  return {
    actor: call.caller.actor,
    action: 'record.resolve',
    target,
    reason,
    after: JSON.stringify({ decision, end_live_claim: end_live_claim ?? false }),
    requestId: call.requestId,
  }
}
