import { routes } from '@ranbook/contract'
import { jsonAnswer } from '../answer.ts'
import { keep } from '../assets.ts'
import type { Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { openapiDocument } from '../openapi-document.ts'

/** What tells about the service itself: `/healthz`, `/readyz`, `/metrics`, `/openapi.json`. */
export function registerService(serve: Serve, deps: HttpDeps): void {
  serve(routes.healthz, () => jsonAnswer(JSON.stringify({ status: 'ok', version: deps.version })))

  serve(routes.readyz, async () => {
    const { ready, stores } = await deps.health.readiness()
    const text = JSON.stringify({ ready, stores })
    return ready ? jsonAnswer(text) : jsonAnswer(text, 503, { 'retry-after': '1' })
  })

  serve(routes.metrics, async () => {
    const { contentType, text } = await deps.metrics.exposition()
    return { status: 200, headers: { 'content-type': contentType }, body: text }
  })

  const document = keep(() => openapiDocument(deps.version))
  serve(routes.openapi, () => jsonAnswer(document()))
}
