import { routes } from '@ranbook/contract'
import type { Hono } from 'hono'
import type { Answer } from './answer.ts'
import { type Assets, assetAnswer } from './assets.ts'
import { type Call, type HttpEnv, requestHeader } from './call.ts'
import { matchTemplate, pathTemplate } from './path-template.ts'
import { HttpProblem } from './problem.ts'
import { answerRequest, type Host, responseOf } from './serve-route.ts'

/** How log lines and metrics name what is no call of the API; the path itself may hold anything. */
const assetRoute = { path: '(asset)', access: 'open', shed: 'never' } as const
const unknownRoute = { path: '(unknown)', access: 'open', shed: 'first' } as const

/** Serves what no route of the contract matched: assets, `OPTIONS`, 405 on a known path, and 404 for all else. */
export function serveUnmatched(app: Hono<HttpEnv>, host: Host, assets: Assets): void {
  app.notFound(async (context) => {
    const { method, path } = context.req
    const asset = method === 'GET' || method === 'HEAD' ? assets.get(path) : undefined
    if (asset !== undefined) {
      const answered = await answerRequest(host, context, assetRoute, () => {
        return assetAnswer(asset(), requestHeader(context, 'if-none-match'))
      })
      return responseOf(context, answered)
    }
    return responseOf(
      context,
      await answerRequest(host, context, unknownRoute, (call) => answerUnmatched(call, assets)),
    )
  })
}

function answerUnmatched({ context }: Call, assets: Assets): Answer {
  const { method, path } = context.req
  const allowed = allowedMethods(path, assets)
  if (allowed.length === 0)
    throw new HttpProblem('not_found', 'There is nothing at this path; see /docs for what there is.')
  const headers = { allow: [...allowed, 'OPTIONS'].join(', ') }
  if (method === 'OPTIONS') return { status: 204, headers, body: null }
  throw new HttpProblem('method_not_allowed', `This path takes ${allowed.join(', ')}.`, { headers })
}

const templates = Object.values(routes).map(({ method, path }) => ({ method, template: pathTemplate(path) }))

function allowedMethods(path: string, assets: Assets): string[] {
  const segments = path.split('/')
  const methods = new Set<string>(assets.has(path) ? ['GET'] : [])
  for (const { method, template } of templates) {
    if (matchTemplate(template, segments) !== null) methods.add(method)
  }
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods]
}
