import { routes } from '@ranbook/contract'
import { presets } from '@ranbook/rules'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'

/** `GET /v1/presets`: sources of events and how long each may redeliver. */
export function registerPresets(serve: Serve): void {
  const answer = JSON.stringify({ data: presets })
  serve(routes.listPresets, () => jsonAnswer(answer))
}
