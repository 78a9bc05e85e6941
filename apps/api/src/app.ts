import { Hono } from 'hono'
import { type Assets, webAssets } from './http/assets.ts'
import type { HttpEnv } from './http/call.ts'
import { docsAssets } from './http/docs-assets.ts'
import type { HttpDeps } from './http/http-deps.ts'
import { registerApiKeys } from './http/routes/api-keys.ts'
import { registerAttention } from './http/routes/attention.ts'
import { registerClaims } from './http/routes/claims.ts'
import { registerClasses } from './http/routes/classes.ts'
import { registerLookup } from './http/routes/lookup.ts'
import { registerMe } from './http/routes/me.ts'
import { registerPresets } from './http/routes/presets.ts'
import { registerRecords } from './http/routes/records.ts'
import { registerReplays } from './http/routes/replays.ts'
import { registerResolve } from './http/routes/resolve.ts'
import { registerRetention } from './http/routes/retention.ts'
import { registerService } from './http/routes/service.ts'
import { registerSettlements } from './http/routes/settlements.ts'
import { registerStats } from './http/routes/stats.ts'
import { type App, type Host, serveFailures, serveRoutes } from './http/serve-route.ts'
import { serveUnmatched } from './http/serve-unmatched.ts'
import { tableRouter } from './http/table-router.ts'

/** The HTTP API, the docs page and the web app as one Hono app, with the table of its routes. Reads the list of `webRoot`'s files; never listens. */
export function createApp(deps: HttpDeps): App {
  const app = new Hono<HttpEnv>({ router: tableRouter() })
  const host: Host = { deps, load: { requests: 0, bodyBytes: 0 }, table: tableRouter() }
  const serve = serveRoutes(app, host)
  registerClaims(serve, deps)
  registerSettlements(serve, deps)
  registerLookup(serve, deps)
  registerRecords(serve, deps)
  registerResolve(serve, deps)
  registerReplays(serve, deps)
  registerClasses(serve, deps)
  registerAttention(serve, deps)
  registerStats(serve, deps)
  registerApiKeys(serve, deps)
  registerMe(serve)
  registerPresets(serve)
  registerRetention(serve, deps)
  registerService(serve, deps)
  const assets: Assets = new Map([...(deps.webRoot === null ? [] : webAssets(deps.webRoot)), ...docsAssets()])
  serveUnmatched(app, host, assets)
  serveFailures(app, host)
  return Object.assign(app, { table: host.table })
}
