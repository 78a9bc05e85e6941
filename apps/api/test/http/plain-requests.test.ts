import { expect, test } from 'vitest'
import { call } from './call.ts'
import { claimBody } from './claim-body.ts'
import { listeningApp } from './listening-app.ts'
import { memoryApp } from './memory-app.ts'

// A path with an escape that means the same is not plain, so it takes the way through the framework.
const requests: [what: string, method: string, path: string, options?: Parameters<typeof call>[3]][] = [
  ['an answer', 'GET', '/v1/me'],
  ['an open route', 'GET', '/healthz'],
  ['a claim', 'POST', '/v1/claims', { body: claimBody('once') }],
  ['a batch, which is made as it is read', 'POST', '/v1/claims/batch', { body: { claims: [claimBody('once')] } }],
  ['a body that is too large', 'POST', '/v1/claims', { body: `"${'x'.repeat(1024 * 1024)}"` }],
  ['a body that is no JSON', 'POST', '/v1/claims', { body: '{' }],
  ['another media type', 'POST', '/v1/claims', { body: '{}', headers: { 'content-type': 'text/plain' } }],
  ['nobody', 'GET', '/v1/me', { key: null }],
  ['a record that is not there', 'GET', `/v1/records/rec_${'0'.repeat(32)}`],
  ['no id', 'GET', '/v1/records/__proto__'],
]

// A short batch is one write where it can be, and so has a length; that it is framed otherwise means nothing.
const differing = new Set(['date', 'content-length', 'transfer-encoding'])

test.each(requests)(
  '%s is answered alike, whether the request is plain or goes through the framework',
  async (_what, method, path, options) => {
    const app = await listeningApp(memoryApp())
    // Once before, so that both find the same record and wait for the same lease.
    if (path.startsWith('/v1/claims')) await call(app.url, 'POST', '/v1/claims', { body: claimBody('once') })
    const headers = { 'x-request-id': 'the-same', ...options?.headers }
    const ask = async (at: string) => {
      const answer = await call(app.url, method, at, { ...options, headers })
      const shown = [...answer.headers].filter(([name]) => !differing.has(name))
      return { status: answer.status, headers: shown, text: answer.text }
    }
    const escaped = `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`
    expect(await ask(path)).toEqual(await ask(escaped))
  },
)
