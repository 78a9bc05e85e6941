import { STATUS_CODES } from 'node:http'
import {
  apiKeySchema,
  classSchema,
  decisionSchema,
  errorCodes,
  fullRecordSchema,
  outcomeStatus,
  outcomes,
  problemSchema,
  type Route,
  recordSchema,
  routes,
} from '@ranbook/contract'
import { z } from 'zod'

/** Answers that several calls share, or that stand inside others. */
const shared = {
  Decision: decisionSchema,
  Record: recordSchema,
  FullRecord: fullRecordSchema,
  Problem: problemSchema,
  Class: classSchema,
  ApiKey: apiKeySchema,
} as const

type Registry = ReturnType<typeof z.registry<{ id: string }>>
type Json = Record<string, unknown>

/**
 * The contract as an OpenAPI 3.1 document, as JSON text. Its schemas are those that check the requests, under names of
 * their own for those who generate a client.
 */
export function openapiDocument(version: string): string {
  const requests: Registry = z.registry()
  const answers: Registry = z.registry()
  for (const [id, schema] of Object.entries(shared)) answers.add(schema, { id })
  const paths: Record<string, Json> = {}
  for (const [name, route] of Object.entries<Route>(routes)) {
    const path = paths[route.path] ?? {}
    paths[route.path] = { ...path, [route.method.toLowerCase()]: operationOf(name, route, requests, answers) }
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Ranbook', version, license: { name: 'Apache-2.0' }, description: introduction() },
    paths,
    components: {
      schemas: { ...schemasOf(requests, 'input'), ...schemasOf(answers, 'output') },
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, rbk_….' } },
    },
  })
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`
}

function schemasOf(registry: Registry, io: 'input' | 'output'): Json {
  const { schemas } = z.toJSONSchema(registry, { io, uri: refTo, unrepresentable: 'any' })
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema: _s, $id: _i, ...schema }]) => [id, schema]))
}

/** A reference to the schema, which gets the name `id` unless it has one. */
function named(registry: Registry, schema: z.ZodType, id: string): Json {
  if (!registry.has(schema)) registry.add(schema, { id })
  return { $ref: refTo(registry.get(schema)?.id ?? id) }
}

function operationOf(name: string, route: Route, requests: Registry, answers: Registry): Json {
  const title = name[0]?.toUpperCase() + name.slice(1)
  const access = route.access === 'open' ? 'Open to everybody.' : `Needs the action ${route.access.join(' or ')}.`
  const responses: Json = {
    default: {
      description: 'Refused: `code` says why, `detail` what to do.',
      content: { 'application/problem+json': { schema: named(answers, problemSchema, 'Problem') } },
    },
  }
  for (const [status, answer] of Object.entries<z.ZodType | string | null>(route.answers)) {
    const description = describeAnswer(route, Number(status))
    const content = contentOf(answer, Number(status), answers, `${title}Answer`)
    const headers = route.versioned && answer !== null ? { ETag: versionHeader('The version that stands.') } : undefined
    responses[status] = { description, ...(headers && { headers }), ...(content && { content }) }
  }
  const body = route.body && { 'application/json': { schema: named(requests, route.body, `${title}Request`) } }
  return {
    operationId: name,
    tags: [/^\/v1\/([a-z-]+)/.exec(route.path)?.[1] ?? 'service'],
    summary: route.summary,
    description: access,
    security: route.access === 'open' ? [] : [{ apiKey: [] }],
    parameters: parametersOf(route),
    ...(body ? { requestBody: { required: route.bodyOptional !== true, content: body } } : {}),
    responses,
  }
}

function versionHeader(description: string): Json {
  return { description, schema: { type: 'string' } }
}

function parametersOf({ path, query, method, versioned }: Route): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const { properties = {}, required = [] } = query ? z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }) : {}
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
  const takesVersion = versioned === true && (method === 'PUT' || method === 'DELETE')
  const condition = { name: 'If-Match', in: 'header', required: false }
  const inHeader = { ...condition, ...versionHeader('Change only this version, as `ETag` named it; else 412.') }
  return [...inPath, ...inQuery, ...(takesVersion ? [inHeader] : [])]
}

function contentOf(answer: z.ZodType | string | null, status: number, answers: Registry, id: string): Json | null {
  if (answer === null) return null
  if (typeof answer === 'string') return { [answer]: { schema: { type: 'string' } } }
  const content = { 'application/json': { schema: named(answers, answer, id) } }
  // The same status can also refuse the request, without a decision.
  const problem = { 'application/problem+json': { schema: named(answers, problemSchema, 'Problem') } }
  return status < 400 ? content : { ...content, ...problem }
}

function describeAnswer(route: Route, status: number): string {
  if (route.path !== routes.claim.path) return STATUS_CODES[status] ?? String(status)
  return outcomes.filter((outcome) => outcomeStatus[outcome] === status).join(', ')
}

function introduction(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |`,
  )
  return [
    'A self-hosted ledger that tells every consumer whether a message’s work is already done.',
    '',
    'Claim a key before you run its effect. Look at nothing but the status if you like: **201 run it, 200 acknowledge,',
    'anything else do not run.** Then complete or fail the claim with its token.',
    '',
    '## Codes of refused requests',
    '',
    '| code | status | meaning |',
    '| --- | --- | --- |',
    ...rows,
  ].join('\n')
}
