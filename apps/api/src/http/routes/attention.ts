import { type AttentionItem, type AttentionView, routes } from '@ranbook/contract'
import { type Attention, type AttentionDeps, attention } from '../../ledger/attention.ts'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { timeText } from '../time-text.ts'

/** `GET /v1/attention`: what a person should look at. */
export function registerAttention(serve: Serve, { attention: store, classes, storeWarnings }: HttpDeps): void {
  const deps: AttentionDeps = { store, classes, storeWarnings }

  serve(routes.attention, async (call) => {
    const { checkedAt, items, counts, more } = await attention(deps, call.caller.scope)
    const view: AttentionView = { checked_at: timeText(checkedAt), items: items.map(itemView), counts, more }
    return jsonAnswer(JSON.stringify(view))
  })
}

function itemView({ since, recordId, actions, ...others }: Attention): AttentionItem {
  return { ...others, since: timeText(since), record_id: recordId, actions: [...actions] }
}
