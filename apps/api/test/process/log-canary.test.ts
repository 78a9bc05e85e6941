import { expect, test } from 'vitest'
import { temporaryDataDir } from '../embedded/temporary-data-dir.ts'
import { startRanbook, testAdminKey } from './start-ranbook.ts'

const canary = 'canary-7b1e'

test('a secret in any header, path, query, body, token or key shows in no line that the server writes', async () => {
  const server = await startRanbook({ RANBOOK_DATA_DIR: await temporaryDataDir(), LOG_LEVEL: 'trace' })
  const statuses = new Set<number>()
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<unknown> => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${testAdminKey}`,
        'content-type': 'application/json',
        cookie: `session=${canary}`,
        'x-canary': canary,
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    statuses.add(response.status)
    return response.json()
  }
  const claim = {
    class: `class.${canary}`,
    consumer: canary,
    key: canary,
    owner: canary,
    payload: { canary },
    refs: [canary],
    source: canary,
    fingerprint: canary,
  }
  const granted = (await send('POST', '/v1/claims', claim)) as { id: string; claim_token: string }
  const token = granted.claim_token
  await send('POST', `/v1/claims/${granted.id}/fail`, {
    claim_token: token,
    error: { message: canary, code: canary, detail: canary },
  })
  await send('POST', '/v1/claims', { ...claim, key: `${canary}-2`, [canary]: canary })
  await send('POST', '/v1/claims', `{"key": "${canary}", ${canary}`)
  await send('POST', '/v1/claims', claim, { 'content-type': `text/${canary}` })
  await send('POST', '/v1/claims', claim, { authorization: `Bearer rbk_${canary}` })
  await send('POST', `/v1/claims/rec_${canary}/complete`, { claim_token: token, result: canary })
  await send('GET', `/v1/lookup?q=${canary}`)
  await send('GET', `/v1/${canary}?${canary}=${canary}`)
  await send('GET', `/v1/records?key_prefix=${canary}&${canary}=1`)
  expect([...statuses].toSorted()).toEqual([200, 201, 400, 401, 404, 415])

  server.process.kill('SIGTERM')
  await server.ended
  const written = server.stdout() + server.stderr()
  expect(written).toContain('"msg":"request"')
  expect(written).toContain('"route":"/v1/claims"')
  expect(written).not.toContain(canary)
  expect(written).not.toContain(token)
  expect(written).not.toContain(testAdminKey)
})
