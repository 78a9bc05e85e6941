import type { Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { cloudEventType } from '../../src/delivery/cloud-event.ts'
import { type PostDeps, postSigned, type SignedPost } from '../../src/delivery/post-signed.ts'
import { parseTargetAllowlist } from '../../src/delivery/target-allowlist.ts'
import { createTargetRules } from '../../src/delivery/target-rules.ts'
import { freePort } from '../redis-watch/redis-process.ts'
import { postFromChild } from './post-from-child.ts'
import { startRawTarget, startTarget } from './target-server.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const anywhere: PostDeps = { rules: createTargetRules(null), now: Date.now }

function postTo(url: string, more: Partial<SignedPost> = {}): SignedPost {
  return { url, secret, id: 'msg_1', contentType: 'application/json', body: '{"n":1.10}', headers: {}, ...more }
}

/** A resolver that answers with the lists in turn, the last one for ever, and counts. */
function resolving(...answers: string[][]) {
  const asked: string[] = []
  const resolve = async (host: string) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(host)
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { resolve, asked }
}

test.each([200, 201, 202, 204, 299])('an answer with %d is a delivery', async (status) => {
  const target = await startTarget((response) => response.writeHead(status).end())
  expect(await postSigned(anywhere, postTo(`http://127.0.0.1:${target.port}/hook?a=b`))).toEqual({
    kind: 'delivered',
    status,
  })
  expect(target.received).toMatchObject([{ method: 'POST', path: '/hook?a=b', body: '{"n":1.10}' }])
})

test("what arrives is signed so that the library's own check takes it, and a changed body is not taken", async () => {
  const target = await startTarget((response) => response.end())
  const body = '{"text":"Zürich 🧾 \\u2028","n":9007199254740993}'
  const post = postTo(`http://127.0.0.1:${target.port}/`, {
    body,
    contentType: cloudEventType,
    headers: { 'ranbook-generation': '2' },
  })
  expect(await postSigned(anywhere, post)).toMatchObject({ kind: 'delivered' })
  const [{ headers, body: arrived } = { headers: {}, body: '' }] = target.received
  expect(arrived).toBe(body)
  expect(headers).toMatchObject({
    'content-type': 'application/cloudevents+json',
    'content-length': String(Buffer.byteLength(body)),
    'ranbook-generation': '2',
    'webhook-id': 'msg_1',
    host: `127.0.0.1:${target.port}`,
    connection: 'close',
  })
  const webhook = new Webhook(secret)
  const signed = headers as Record<string, string>
  expect(webhook.verify(arrived, signed, { jsonParse: false })).toBeUndefined()
  expect(() => webhook.verify(`${arrived} `, signed)).toThrow('No matching signature')
  expect(() => new Webhook(`${Buffer.alloc(32, 8).toString('base64')}`).verify(arrived, signed)).toThrow('No matching')
})

test('each try has the same id, and the time and the signature of its own', async () => {
  const target = await startTarget((response) => response.end())
  for (const now of [1_000_000_000_999, 1_000_000_300_000]) {
    await postSigned({ ...anywhere, now: () => now }, postTo(`http://127.0.0.1:${target.port}/`))
  }
  const sent = target.received.map(({ headers }) => headers)
  expect(sent.map((headers) => headers['webhook-id'])).toEqual(['msg_1', 'msg_1'])
  expect(sent.map((headers) => headers['webhook-timestamp'])).toEqual(['1000000000', '1000000300'])
  expect(new Set(sent.map((headers) => headers['webhook-signature'])).size).toBe(2)
  expect(target.connections()).toBe(2)
})

test.each([
  [400, 'status 400'],
  [404, 'status 404'],
  [410, 'status 410'],
  [429, 'status 429'],
  [500, 'status 500'],
  [503, 'status 503'],
  [304, 'status 304, and redirects are not followed'],
])('an answer with %d is a failure that names the status and nothing of the body', async (status, reason) => {
  const target = await startTarget((response) => response.writeHead(status, 'canary').end('canary'))
  const outcome = await postSigned(anywhere, postTo(`http://127.0.0.1:${target.port}/`))
  expect(outcome).toEqual({ kind: 'failed', status, reason })
})

test.each([301, 302, 303, 307, 308])('a redirect with %d is not followed, to metadata or anywhere', async (status) => {
  const elsewhere = await startTarget((response) => response.end())
  for (const location of ['http://169.254.169.254/latest/meta-data/', `http://127.0.0.1:${elsewhere.port}/`]) {
    const target = await startTarget((response) => response.writeHead(status, { location }).end())
    expect(await postSigned(anywhere, postTo(`http://127.0.0.1:${target.port}/`))).toEqual({
      kind: 'failed',
      status,
      reason: `status ${status}, and redirects are not followed`,
    })
  }
  expect(elsewhere.connections()).toBe(0)
})

test('a target that never answers ends the try when its time is over', async () => {
  const target = await startTarget(() => {})
  const outcome = await postSigned({ ...anywhere, timeoutMs: 150 }, postTo(`http://127.0.0.1:${target.port}/`))
  expect(outcome).toEqual({ kind: 'failed', status: null, reason: 'no answer within 150 ms' })
})

test('a target that sends its head byte by byte, or only interim answers, has no more time than any other', async () => {
  const slow = await startRawTarget((socket) => {
    const timer = setInterval(() => socket.write('H'), 20)
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
    socket.on('close', () => clearInterval(timer))
  })
  const interim = await startRawTarget((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20)
    socket.on('close', () => clearInterval(timer))
  })
  for (const { port } of [slow, interim]) {
    const outcome = await postSigned({ ...anywhere, timeoutMs: 200 }, postTo(`http://127.0.0.1:${port}/`))
    expect(outcome).toEqual({ kind: 'failed', status: null, reason: 'no answer within 200 ms' })
  }
})

test('an answer whose body never ends is cut off, and its status counts', async () => {
  let sent = 0
  const target = await startTarget((response) => {
    const chunk = Buffer.alloc(64 * 1024)
    const write = (): void => {
      if (response.destroyed) return
      sent += chunk.length
      if (response.write(chunk)) write()
    }
    response.on('drain', write)
    write()
  })
  const outcome = await postSigned(anywhere, postTo(`http://127.0.0.1:${target.port}/`))
  expect(outcome).toEqual({ kind: 'delivered', status: 200 })
  // What the sockets of both sides hold is written too.
  expect(sent).toBeLessThan(16 * 1024 * 1024)
})

test('an answer whose body stalls or breaks off counts by its status', async () => {
  const stalling = await startTarget((response) => response.writeHead(200).write('a'))
  expect(await postSigned({ ...anywhere, timeoutMs: 200 }, postTo(`http://127.0.0.1:${stalling.port}/`))).toEqual({
    kind: 'delivered',
    status: 200,
  })
  const breaking = await startRawTarget((socket) => {
    socket.end('HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nabc')
  })
  expect(await postSigned(anywhere, postTo(`http://127.0.0.1:${breaking.port}/`))).toMatchObject({ status: 500 })
})

test.each([
  ['resets the connection', (socket) => socket.resetAndDestroy(), /^the connection was closed without an answer$/],
  ['closes the connection', (socket) => socket.end(), /^the connection was closed without an answer$/],
  ['speaks no HTTP', (socket) => socket.end('220 canary ESMTP\r\n'), /^the answer was not HTTP \(HPE_[A-Z_]+\)$/],
  [
    'sends a head without end',
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`),
    /HPE_HEADER_OVERFLOW/,
  ],
  [
    'changes the protocol',
    (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: canary\r\nConnection: Upgrade\r\n\r\n'),
    /^(the connection was closed without an answer|the connection failed)$/,
  ],
] satisfies [string, (socket: Socket) => void, RegExp][])(
  'a target that %s has failed, and the reason is plain',
  async (_what, answer, reason) => {
    const target = await startRawTarget(answer)
    const outcome = await postSigned(anywhere, postTo(`http://127.0.0.1:${target.port}/`))
    expect(outcome).toEqual({ kind: 'failed', status: null, reason: expect.stringMatching(reason) })
    expect(JSON.stringify(outcome)).not.toContain('canary')
  },
)

test('a port where nobody listens is a refused connection', async () => {
  const outcome = await postSigned(anywhere, postTo(`http://127.0.0.1:${await freePort()}/`))
  expect(outcome).toEqual({ kind: 'failed', status: null, reason: 'the connection was refused' })
})

test('a name is resolved once, and Host stays the name', async () => {
  const target = await startTarget((response) => response.end())
  const { resolve, asked } = resolving(['127.0.0.1'])
  const url = `http://Hooks.example.com:${target.port}/`
  expect(await postSigned({ ...anywhere, resolve }, postTo(url))).toMatchObject({ kind: 'delivered' })
  expect(asked).toEqual(['hooks.example.com'])
  expect(target.received[0]?.headers.host).toBe(`hooks.example.com:${target.port}`)
})

test('a name that would lead elsewhere when asked again is sent to where it was judged', async () => {
  const target = await startTarget((response) => response.end())
  const { resolve, asked } = resolving(['127.0.0.1'], ['169.254.169.254'])
  const url = `http://rebinding.example.com:${target.port}/`
  expect(await postSigned({ ...anywhere, resolve }, postTo(url))).toMatchObject({ kind: 'delivered' })
  expect(asked).toHaveLength(1)
  // The next delivery asks anew, and is refused.
  expect(await postSigned({ ...anywhere, resolve }, postTo(url))).toMatchObject({ kind: 'refused' })
  expect(target.connections()).toBe(1)
})

test.each([
  [['169.254.169.254']],
  [['127.0.0.1', '169.254.169.254']],
  [['169.254.169.254', '127.0.0.1']],
  [['127.0.0.1', '::ffff:169.254.169.254']],
  [['127.0.0.1', 'fe80::1%eth0']],
  [['127.0.0.1', '0.0.0.0']],
  [['fd00:ec2::254', '127.0.0.1']],
])('a name that leads to %j is refused, and no connection is made', async (addresses) => {
  const target = await startTarget((response) => response.end())
  const { resolve } = resolving(addresses)
  const outcome = await postSigned({ ...anywhere, resolve }, postTo(`http://mixed.example.com:${target.port}/`))
  expect(outcome).toEqual({ kind: 'refused', reason: expect.stringMatching(/^mixed\.example\.com leads to .+\.$/) })
  expect(target.connections()).toBe(0)
})

test('where one address of a name does not answer, the next one is tried', async () => {
  const target = await startTarget((response) => response.end())
  const { resolve } = resolving(['127.0.0.2', '127.0.0.1'])
  const outcome = await postSigned({ ...anywhere, resolve }, postTo(`http://two.example.com:${target.port}/`))
  expect(outcome).toEqual({ kind: 'delivered', status: 200 })
})

test('an allow-list is kept at each delivery', async () => {
  const target = await startTarget((response) => response.end())
  const rules = createTargetRules(parseTargetAllowlist('hooks.example.com, 10.0.0.0/8'))
  const { resolve } = resolving(['127.0.0.1'])
  const deps = { ...anywhere, rules, resolve }
  expect(await postSigned(deps, postTo(`http://hooks.example.com:${target.port}/`))).toMatchObject({
    kind: 'delivered',
  })
  expect(await postSigned(deps, postTo(`http://other.example.com:${target.port}/`))).toEqual({
    kind: 'refused',
    reason: 'other.example.com leads to 127.0.0.1, which is not in RANBOOK_TARGET_ALLOWLIST.',
  })
  expect(target.connections()).toBe(1)
})

test('what could not be set as a target is refused without a look at the network', async () => {
  const { resolve, asked } = resolving(['127.0.0.1'])
  const urls = [
    'http://169.254.169.254/',
    'http://0251.0376.0251.0376/',
    'http://2852039166/',
    'http://[::ffff:169.254.169.254]/',
    'http://me:canary@hooks.example.com/',
    'file:///etc/passwd',
    'http://[fe80::1%25eth0]/',
    'not a url',
  ]
  for (const url of urls) {
    expect(await postSigned({ ...anywhere, resolve }, postTo(url))).toMatchObject({ kind: 'refused' })
  }
  expect(asked).toEqual([])
})

test.each([
  ['ENOTFOUND', 'the name of the host is not known'],
  ['EAI_AGAIN', 'the name of the host could not be resolved'],
])('a name that fails with %s may be tried again', async (code, reason) => {
  const resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo canary'), { code }))
  const outcome = await postSigned({ ...anywhere, resolve }, postTo('http://gone.example.com/'))
  expect(outcome).toEqual({ kind: 'failed', status: null, reason })
})

test('a name without addresses, and one whose servers say nothing, may be tried again', async () => {
  const none = await postSigned({ ...anywhere, ...resolving([]) }, postTo('http://empty.example.com/'))
  expect(none).toEqual({ kind: 'failed', status: null, reason: 'the name of the host is not known' })
  const silent = { ...anywhere, resolve: () => new Promise<never>(() => {}), timeoutMs: 100 }
  const outcome = await postSigned(silent, postTo('http://silent.example.com/'))
  expect(outcome).toEqual({ kind: 'failed', status: null, reason: 'no answer within 100 ms' })
})

test('the names of this machine are resolved as its programs resolve them', async () => {
  const target = await startTarget((response) => response.end())
  const outcome = await postSigned(anywhere, postTo(`http://localhost:${target.port}/`))
  expect(outcome).toEqual({ kind: 'delivered', status: 200 })
})

test('a proxy named in the environment is not used', async () => {
  const target = await startTarget((response) => response.end())
  const proxy = await startTarget((response) => response.end())
  const address = `http://127.0.0.1:${proxy.port}`
  const environment = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, http_proxy: address, NO_PROXY: '', no_proxy: '' }
  const outcomes = await postFromChild(environment, [`http://hooks.example.com:${target.port}/`])
  expect(outcomes).toEqual([{ kind: 'delivered', status: 200 }])
  expect(proxy.connections()).toBe(0)
})
