import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCodes, type Route, routes } from '@ranbook/contract'
import { expect, onTestFinished, test } from 'vitest'
import { type Answered, call } from './call.ts'
import { expectProblem } from './expect-problem.ts'
import { listeningApp } from './listening-app.ts'
import { memoryApp } from './memory-app.ts'

function webRoot(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ranbook-web-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'dist/assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  writeFileSync(join(folder, 'dist/index.html'), '<!doctype html><title>page</title>')
  writeFileSync(join(folder, 'dist/icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(folder, 'dist/assets/index-3fa9.js'), 'export {}')
  return join(folder, 'dist')
}

const open = (app: Parameters<typeof call>[0], path: string, headers = {}): Promise<Answered> =>
  call(app, 'GET', path, { key: null, headers })

/** Nothing inline, nothing from elsewhere, in nobody's frame. */
function expectGuarded({ headers }: Answered): void {
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
}

test('the web app is served to everybody: its page asked for again each time, its hashed files kept for a year', async () => {
  const { app } = memoryApp({ webRoot: webRoot() })
  for (const path of ['/', '/index.html']) {
    const page = await open(app, path)
    expect([page.status, page.text]).toEqual([200, '<!doctype html><title>page</title>'])
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    expectGuarded(page)
  }
  const script = await open(app, '/assets/index-3fa9.js')
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await open(app, '/icon.svg')).headers.get('content-type')).toBe('image/svg+xml')
})

test('a page that the browser has is 304 without a body', async () => {
  const { app } = memoryApp({ webRoot: webRoot() })
  const etag = (await open(app, '/')).headers.get('etag') ?? ''
  for (const value of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const answer = await open(app, '/', { 'if-none-match': value })
    expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', etag])
  }
  expect((await open(app, '/', { 'if-none-match': '"other"' })).status).toBe(200)
})

test('no path leads out of the web app’s folder', async () => {
  const folder = webRoot()
  symlinkSync(join(folder, '../secret.txt'), join(folder, 'linked.txt'))
  const it = memoryApp({ webRoot: folder })
  const server = await listeningApp(it)
  for (const path of [
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/assets/../../secret.txt',
    '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
    '/..%5csecret.txt',
    '//secret.txt',
    '/assets',
    '/assets/',
    '/linked.txt',
    `/${folder}/index.html`,
  ]) {
    for (const to of [it.app, server.url]) {
      const answer = await open(to, path)
      expect([path, answer.status]).toEqual([path, 404])
      expect(answer.text).not.toContain('secret')
    }
  }
})

test('without a web app the API stands alone', async () => {
  expectProblem(await open(memoryApp().app, '/'), 'not_found')
})

test('the docs page and all it loads come from this server, for everybody', async () => {
  const { app } = memoryApp()
  const page = await open(app, '/docs')
  expect(page.status).toBe(200)
  expectGuarded(page)
  const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? '')
  expect(links.length).toBeGreaterThanOrEqual(4)
  for (const link of links.filter((link) => !link.startsWith('data:'))) {
    const { pathname, host } = new URL(link, 'http://here/docs')
    expect(host).toBe('here')
    const asset = await open(app, pathname)
    expect([link, asset.status]).toEqual([link, 200])
    expectGuarded(asset)
  }
  expect(page.text).not.toMatch(/<script>|<style|onload|https?:\/\//)
})

test('the OpenAPI document has every route with its parameters, bodies, answers and access', async () => {
  const { app } = memoryApp()
  const answer = await open(app, '/openapi.json')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
  const document = JSON.parse(answer.text)
  expect(document.openapi).toBe('3.1.0')
  for (const [name, route] of Object.entries<Route>(routes)) {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()]
    expect(operation).toMatchObject({
      operationId: name,
      summary: route.summary,
      security: route.access === 'open' ? [] : [{ apiKey: [] }],
    })
    expect(Object.keys(operation.responses).sort()).toEqual([...Object.keys(route.answers), 'default'].sort())
    const parameters: { name: string; in: string }[] = operation.parameters ?? []
    const named = parameters.filter((parameter) => parameter.in !== 'header').map(({ name }) => name)
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    expect(named.sort()).toEqual([...inPath, ...Object.keys(route.query?.shape ?? {})].sort())
    expect(operation.requestBody !== undefined).toBe(route.body !== undefined)
  }
  const { get, put } = document.paths['/v1/classes/{name}']
  const review = document.paths['/v1/classes/{name}/review'].post
  const takesIfMatch = ({ parameters }: typeof put) =>
    parameters.some(
      (parameter: { name: string; in: string }) => parameter.name === 'If-Match' && parameter.in === 'header',
    )
  expect([get, put, document.paths['/v1/classes/{name}'].delete, review].map(takesIfMatch)).toEqual([
    false,
    true,
    true,
    false,
  ])
  for (const answer of [get.responses['200'], put.responses['200'], put.responses['201'], review.responses['200']]) {
    expect(answer.headers).toHaveProperty('ETag')
  }
  expect([put.requestBody.required, review.requestBody.required]).toEqual([true, false])
  const claim = document.paths['/v1/claims'].post
  expect(claim.requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/ClaimRequest' })
  expect(document.components.schemas.ClaimRequest.required).toEqual(['class', 'key'])
  expect(claim.responses['201'].description).toBe('claimed')
  expect(claim.responses['201'].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Decision' })
  const refs = [...answer.text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, ref]) => ref)
  expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(refs))
  expect(answer.text).not.toMatch(/\$id|\$schema/)
  expect(document.components.schemas.Problem.properties.code.enum).toEqual(Object.keys(errorCodes))
})

test('every error code stands in the docs with its status and what to do', async () => {
  const { app } = memoryApp()
  const { description } = JSON.parse((await open(app, '/openapi.json')).text).info
  for (const [code, { status, meaning }] of Object.entries(errorCodes)) {
    expect(description).toContain(`| \`${code}\` | ${status} | ${meaning} |`)
  }
})

test('a second document of one process is the same', async () => {
  const documents = await Promise.all([1, 2].map(async () => (await open(memoryApp().app, '/openapi.json')).text))
  expect(documents[0]).toBe(documents[1])
})

test('healthz tells that the process lives, readyz whether it can serve', async () => {
  const { app, state } = memoryApp()
  expect((await open(app, '/healthz?verbose=1')).json).toEqual({ status: 'ok', version: '0.0.0-test' })
  expect([await open(app, '/readyz')].map(({ status, text }) => [status, JSON.parse(text)])).toEqual([
    [200, { ready: true, stores: { postgres: { ok: true, note: null } } }],
  ])
  state.ready = false
  const unready = await open(app, '/readyz')
  expect([unready.status, unready.headers.get('retry-after'), JSON.parse(unready.text).ready]).toEqual([
    503,
    '1',
    false,
  ])
})

test('metrics are Prometheus’ text, for those who may read', async () => {
  const { app } = memoryApp()
  const answer = await call(app, 'GET', '/metrics', { key: 'read' })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4'])
  expect(answer.text).toContain('ranbook_up 1')
})
