import type { ErrorCode } from '@ranbook/contract'
import { expect, test } from 'vitest'
import { call } from './call.ts'
import { claimBody, tokenOf } from './claim-body.ts'
import { expectProblem } from './expect-problem.ts'
import { listeningApp } from './listening-app.ts'
import { memoryApp } from './memory-app.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const claimText = (payload: string): string => `{"class":"c","consumer":"w","key":"k","payload":${payload}}`
const latin1 = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'latin1'))

const oddKeys = [
  '/',
  '%',
  '%2F',
  'a/b?c=d#e',
  '..',
  '../../etc/passwd',
  ' ',
  ' k',
  'k ',
  '"',
  '\\',
  '\u2028',
  '\ufeffk',
  '\u202ek',
  'K',
  'k',
  'é',
  'e\u0301',
  '😀',
  '😀'.repeat(256),
  'k'.repeat(1024),
  '__proto__',
  'constructor',
  'null',
  "'; DROP TABLE record; --",
  '{{x}}<script>alert(1)</script>',
  `rec_${'0'.repeat(32)}`,
]

test('odd keys are keys like any other: each its own, byte for byte', async () => {
  const { url } = await listeningApp(memoryApp())
  const ids = new Set<string>()
  for (const key of oddKeys) {
    const first = await call(url, 'POST', '/v1/claims', { body: claimBody(key) })
    expect([key, first.status, first.json.key]).toEqual([key, 201, key])
    ids.add(first.json.id)
    expect((await call(url, 'POST', '/v1/claims', { body: claimBody(key) })).json.outcome).toBe('in_progress')
  }
  expect(ids.size).toBe(oddKeys.length)
})

test('no split of consumer, class and key makes two identities one', async () => {
  const { app } = memoryApp()
  const ids = []
  for (const [consumer, name, key] of [
    ['a', 'b', 'c'],
    ['ab', 'c', 'c'],
    ['a', 'bc', 'c'],
    ['a:b', 'c', 'c'],
    ['a', 'b:c', 'c'],
  ]) {
    const answer = await call(app, 'POST', '/v1/claims', { body: { consumer, class: name, key } })
    ids.push(answer.json.id)
  }
  expect(new Set(ids).size).toBe(ids.length)
})

test.each([
  ['', 'an empty text'],
  ['k'.repeat(1025), '1 025 bytes'],
  ['é'.repeat(513), '1 026 bytes'],
  ['a\\u0000b', 'U+0000'],
  ['\\u001f', 'a control character'],
  ['\\u007f', 'DEL'],
  ['\\u0085', 'a C1 control'],
  ['\\ud800', 'a lone high surrogate'],
  ['\\udc00\\ud800', 'surrogates in the wrong order'],
])('a key of %j is 400: %s', async (key) => {
  const { url } = await listeningApp(memoryApp())
  const answer = await call(url, 'POST', '/v1/claims', { body: `{"class":"c","consumer":"w","key":"${key}"}` })
  expect(expectProblem(answer, 'invalid_request').errors).toMatchObject([{ path: 'key' }])
})

const badBodies: [string, string | Uint8Array<ArrayBuffer>, ErrorCode][] = [
  ['nothing', '', 'invalid_json'],
  ['white space', ' \n', 'invalid_json'],
  ['a beginning', '{"class":"c"', 'invalid_json'],
  ['a word', 'nul', 'invalid_json'],
  ['two values', `${claimText('1')}{}`, 'invalid_json'],
  ['a comment', `/**/${claimText('1')}`, 'invalid_json'],
  ['a trailing comma', '{"class":"c",}', 'invalid_json'],
  ['single quotes', "{'class':'c'}", 'invalid_json'],
  ['NaN', claimText('NaN'), 'invalid_json'],
  ['a raw NUL in a string', claimText('"\u0000"'), 'invalid_json'],
  ['a raw NUL outside', `\u0000${claimText('1')}`, 'invalid_json'],
  ['a byte order mark', `\ufeff${claimText('1')}`, 'invalid_json'],
  ['UTF-16', new Uint8Array(Buffer.from(claimText('1'), 'utf16le')), 'invalid_json'],
  ['Latin-1', latin1(claimText('"é"')), 'invalid_json'],
  ['an overlong form', latin1(claimText('"\xc0\x80"')), 'invalid_json'],
  ['an encoded surrogate', latin1(claimText('"\xed\xa0\x80"')), 'invalid_json'],
  ['a cut character', latin1('{"class":"\xe2\x82'), 'invalid_json'],
  ['a member named twice', '{"class":"c","consumer":"w","key":"k1","key":"k2"}', 'invalid_json'],
  ['a member named twice, once escaped', '{"class":"c","consumer":"w","key":"k1","k\\u0065y":"k2"}', 'invalid_json'],
  ['a payload given twice', '{"class":"c","consumer":"w","key":"k","payload":1,"payload":2}', 'invalid_json'],
  ['depth 65', claimText(nested(64)), 'invalid_json'],
  ['depth 5 000', claimText(nested(5000)), 'invalid_json'],
  ['depth 1 000 000 cut off', '['.repeat(1_000_000), 'invalid_json'],
  ['depth 5 000 of objects', claimText(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`), 'invalid_json'],
  ['a number of 401 digits', claimText('1'.repeat(401)), 'invalid_json'],
  ['an exponent of 100 000 digits', claimText(`1e${'9'.repeat(100_000)}`), 'invalid_json'],
  ['2 MiB', claimText(`"${'x'.repeat(2 * 1024 * 1024)}"`), 'payload_too_large'],
  ['2 MiB of white space', ' '.repeat(2 * 1024 * 1024), 'payload_too_large'],
  ['a payload above 256 KiB', claimText(`"${'x'.repeat(256 * 1024 - 1)}"`), 'payload_too_large'],
  ['null', 'null', 'invalid_request'],
  ['a list', '[]', 'invalid_request'],
  ['a text', '"claim"', 'invalid_request'],
  ['a number', '1', 'invalid_request'],
  ['nothing of a claim', '{}', 'invalid_request'],
]

test.each(badBodies)('a body of %s is refused with a problem', async (_, body, code) => {
  const it = memoryApp()
  const { url } = await listeningApp(it)
  const problem = expectProblem(await call(url, 'POST', '/v1/claims', { body }), code)
  expect(problem.detail.length).toBeLessThan(400)
  expect(it.observed).toEqual([])
})

test('a batch of millions of items is refused before they are built, its limit named', async () => {
  const it = memoryApp()
  for (const [path, list] of [
    ['/v1/claims/batch', 'claims'],
    ['/v1/settlements', 'settlements'],
  ] as const) {
    const body = `{"${list}":[${'{},'.repeat(2_700_000)}{}]}`
    const problem = expectProblem(await call(it.app, 'POST', path, { body }), 'invalid_request')
    expect(problem.errors).toEqual([{ path: list, message: 'must hold at most 1000 items' }])
  }
  const loose = `{"claims":[{"refs":[${'{},'.repeat(2_700_000)}{}]}]}`
  expectProblem(await call(it.app, 'POST', '/v1/claims/batch', { body: loose }), 'invalid_json')
})

test.each([
  ['lease_ms', [-1, 0, 999, 1000.5, 86_400_001, 1e300, '60000', true, null, [], {}]],
  ['class', ['', 'a*', '*', 7, null, [], {}, 'n'.repeat(201), '\u0000']],
  ['consumer', ['', 7, null, false, [], {}, 'é'.repeat(101), '\u009f']],
  ['key', [7, null, true, ['k'], { k: 1 }]],
  ['owner', ['', 7, null, 'n'.repeat(201)]],
  ['claim_token', ['', 'x', 7, null, tokenOf(1).slice(1), `${tokenOf(1)}0`, `{${tokenOf(1)}}`]],
  ['fingerprint', ['', 7, null, 'f'.repeat(201)]],
  ['refs', ['r', null, {}, [''], [7], [null], Array.from({ length: 17 }, (_, at) => `r${at}`), ['n'.repeat(201)]]],
  ['source', ['', 7, null]],
  ['seq', [-1, 1.5, 2 ** 53, '-1', '01', '1.0', '', '9223372036854775808', '1'.repeat(400), null, true]],
  ['occurred_at', ['', 'today', '2026-02-30T10:00:00Z', '2026-11-30T10:00:00+01:00', '2026-11-30', 0, null]],
] as const)('%s of a wrong type or beyond its limits is 400 and named', async (name, values) => {
  const { url } = await listeningApp(memoryApp())
  for (const value of values) {
    const answer = await call(url, 'POST', '/v1/claims', { body: claimBody('k', { [name]: value }) })
    const [error] = expectProblem(answer, 'invalid_request').errors ?? []
    expect([value, error?.path.replace(/\[\d+\]$/, '')]).toEqual([value, name])
  }
})

test('numbers beyond 2^53 are refused where they would be rounded', async () => {
  const { url } = await listeningApp(memoryApp())
  for (const [name, value] of [
    ['seq', '9007199254740993'],
    ['seq', '1e400'],
    ['lease_ms', '1e400'],
    ['lease_ms', '9007199254740993'],
  ]) {
    const body = `{"class":"c","consumer":"w","key":"k","source":"s","${name}":${value}}`
    expectProblem(await call(url, 'POST', '/v1/claims', { body }), 'invalid_request')
  }
})

const exactValues = [
  '12345678901234567890',
  '-0',
  '0.1000',
  '1E+2',
  '1e400',
  '3.141592653589793238462643383279',
  'null',
  'false',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u00e9 \\/ é 😀"',
  '{"b":1,"2":2,"1":3,"b":4}',
  '{"__proto__":{"x":1},"constructor":null}',
  '{ "a" : [ 1 ,\t2 ] }',
  nested(63),
  `"${'é'.repeat(131_071)}"`,
]

test.each(exactValues)('%s comes back as a result character for character', async (result) => {
  const { url } = await listeningApp(memoryApp())
  const { json } = await call(url, 'POST', '/v1/claims', { body: claimBody('k', { claim_token: tokenOf(1) }) })
  const body = `{"claim_token":"${tokenOf(1)}", "result" : ${result} }`
  const completed = await call(url, 'POST', `/v1/claims/${json.id}/complete`, { body })
  expect(completed.status).toBe(200)
  const duplicate = await call(url, 'POST', '/v1/claims', { body: claimBody('k') })
  for (const { text } of [completed, duplicate]) expect(text).toContain(`"has_result":true,"result":${result},"error":`)
})

test('a body in many small pieces is the same body, split characters included', async () => {
  const it = memoryApp()
  const { exchange } = await listeningApp(it)
  const bytes = Buffer.from(JSON.stringify(claimBody('😀é')))
  const pieces = Array.from(bytes, (byte) =>
    Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
  )
  const answer = await exchange(
    'POST /v1/claims HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer all\r\n',
    'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    ...pieces,
    '0\r\n\r\n',
  )
  expect(answer).toMatch(/^HTTP\/1\.1 201 /)
  expect(answer).toContain('"key":"😀é"')
})

test.each([
  ['HTTP/1.0 without Host', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
  ['HTTP/1.1 without Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['an absolute target', 'GET http://elsewhere/healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 200],
  ['an absolute target that is no URL', 'GET http://[ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ['a Host that is none', 'GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
  ['a Host with a path', 'GET /healthz HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n', 400],
  ['a backslash', 'GET /v1\\claims HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ['a star', 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ['an unknown method', 'BREW /v1/claims HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ['two lengths', 'POST /v1/claims HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}', 400],
  [
    'a length and chunks',
    'POST /v1/claims HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    400,
  ],
  ['a TRACE', 'TRACE /v1/claims HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405],
])('%s is answered, never a 500', async (_, request, status) => {
  const { exchange } = await listeningApp(memoryApp())
  const answer = await exchange(request)
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  if (status < 400) return
  expect(answer.toLowerCase()).toContain('content-type: application/problem+json')
  const [, requestId] = /^x-request-id: (\S+)\r$/im.exec(answer) ?? []
  expect(answer).toContain(`"request_id":"${requestId}"`)
})
