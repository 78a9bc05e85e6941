import { type ApiKeyCreate, type ApiKeyDocument, apiKeyCreateSchema, limits, routes } from '@ranbook/contract'
import { isPolicyName, type KeyScopes } from '@ranbook/rules'
import type { ApiKeyView } from '../../access/access-book.ts'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { parseQuery } from '../parse-query.ts'
import { pathParam } from '../path-param.ts'
import { type FieldFault, HttpProblem } from '../problem.ts'
import { readJsonBody } from '../read-body.ts'
import { decodeTextCursor, encodeTextCursor, invalidCursor } from '../text-cursor.ts'
import { timeText } from '../time-text.ts'
import { invalidRequest, validate } from '../validate.ts'
import { timeOrNull } from '../write-record-file.ts'

/** `GET`, `POST` and `DELETE /v1/api-keys`. */
export function registerApiKeys(serve: Serve, { access }: HttpDeps): void {
  serve(routes.listApiKeys, async (call) => {
    const { limit = limits.pageDefaultItems, cursor } = parseQuery(call, routes.listApiKeys.query)
    const after = decodeTextCursor(cursor)
    const keys = await access.list(call.caller)
    const at = after === null ? -1 : keys.findIndex(({ id }) => id === after)
    if (after !== null && at === -1) throw invalidCursor()
    const page = keys.slice(at + 1, at + 1 + limit)
    const last = at + 1 + limit < keys.length ? page.at(-1) : undefined
    const next_cursor = last === undefined ? null : encodeTextCursor(last.id)
    return jsonAnswer(JSON.stringify({ data: page.map(apiKeyDocument), next_cursor }))
  })

  serve(routes.createApiKey, async (call) => {
    const input = validate(apiKeyCreateSchema, await readJsonBody(call))
    const expiresAt = input.expires_at == null ? null : Date.parse(input.expires_at)
    refuseFaults(input, expiresAt)
    const made = await access.create(call.caller, input.name, scopesOf(input), expiresAt, call.requestId)
    switch (made.kind) {
      case 'too_wide':
        throw new HttpProblem('forbidden', made.detail)
      case 'created': {
        const document = { ...apiKeyDocument(made.key), secret: made.secret }
        return jsonAnswer(JSON.stringify(document), 201, { 'cache-control': 'no-store' })
      }
    }
  })

  serve(routes.revokeApiKey, async (call) => {
    const outcome = await access.revoke(call.caller, pathParam(call, 'id'), call.requestId)
    if (outcome === 'absent')
      throw new HttpProblem('not_found', 'No live API key with this id is in the scope of yours.')
    return { status: 204, headers: {}, body: null }
  })
}

function refuseFaults({ scopes }: ApiKeyCreate, expiresAt: number | null): void {
  const faults: FieldFault[] = []
  for (const [at, name] of scopes.classes.entries()) {
    if (!isPolicyName(name)) faults.push({ path: `scopes.classes[${at}]`, message: 'may hold * once only, at its end' })
  }
  if (expiresAt !== null && expiresAt <= Date.now())
    faults.push({ path: 'expires_at', message: 'must lie in the future' })
  if (faults.length > 0) throw invalidRequest(faults)
}

function scopesOf({ scopes }: ApiKeyCreate): KeyScopes {
  const { actions, classes, consumer } = scopes
  return { actions: [...new Set(actions)], classes: [...new Set(classes)], consumer: consumer ?? null }
}

function apiKeyDocument(key: ApiKeyView): ApiKeyDocument {
  return {
    id: key.id,
    name: key.name,
    scopes: key.scopes,
    created_at: timeText(key.createdAt),
    created_by: key.createdBy,
    expires_at: timeOrNull(key.expiresAt),
    last_used_at: timeOrNull(key.lastUsedAt),
    revoked_at: timeOrNull(key.revokedAt),
  }
}
