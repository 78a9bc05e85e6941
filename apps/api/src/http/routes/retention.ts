import { type ClassRetentionView, classPutSchema, limits, type PolicyPreview, routes } from '@ranbook/contract'
import { findPolicyFault, findRetentionFault } from '@ranbook/rules'
import { previewPolicy } from '../../ledger/preview-policy.ts'
import { readRetention } from '../../ledger/read-retention.ts'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { parseQuery } from '../parse-query.ts'
import { HttpProblem } from '../problem.ts'
import { readJsonBody } from '../read-body.ts'
import { decodeTextCursor, encodeTextCursor } from '../text-cursor.ts'
import { timeText } from '../time-text.ts'
import { validate } from '../validate.ts'
import { timeOrNull } from '../write-record-file.ts'
import { readableName } from './class-name.ts'

/** `GET /v1/retention` and `POST /v1/classes/{name}/preview`. */
export function registerRetention(serve: Serve, { classes, retention }: HttpDeps): void {
  serve(routes.listRetention, async (call) => {
    const { limit = limits.pageDefaultItems, cursor } = parseQuery(call, routes.listRetention.query)
    const { rows, last } = await readRetention(
      { store: retention, classes },
      call.caller.scope,
      decodeTextCursor(cursor),
      limit,
    )
    const data = rows.map(
      ({ progress, policy, due }): ClassRetentionView => ({
        class: progress.class,
        store: policy.store,
        details_retention_ms: policy.details_retention_ms,
        key_retention_ms: policy.key_retention_ms,
        keys_complete_since: timeOrNull(progress.keysCompleteSince),
        last_run:
          progress.lastRun === null ? null : { at: timeText(progress.lastRun.at), took_ms: progress.lastRun.tookMs },
        erased: progress.erased,
        forgotten: progress.forgotten,
        due,
      }),
    )
    return jsonAnswer(JSON.stringify({ data, next_cursor: last === null ? null : encodeTextCursor(last) }))
  })

  serve(routes.previewClass, async (call) => {
    const name = readableName(call)
    const { policy } = validate(classPutSchema, await readJsonBody(call))
    // A retention that is too short is what a preview is asked for: it is a warning here.
    const fault = findPolicyFault(policy) ?? findRetentionFault(policy, true)
    if (fault !== null) throw new HttpProblem(fault.code, fault.detail)
    const preview: PolicyPreview = await previewPolicy({ store: retention, classes }, call.caller.scope, name, policy)
    return jsonAnswer(JSON.stringify(preview))
  })
}
