import { StoreError } from '@ranbook/rules'
import { expect, test } from 'vitest'
import { createLog, type Log } from '../../src/process/log.ts'
import { EmbeddedPostgresError } from '../../src/stores/postgres/embedded-error.ts'
import { PostgresRefused } from '../../src/stores/postgres/postgres-refused.ts'

const canary = 'canary-4f1d'

function captured(write: (log: Log) => void): string {
  const lines: string[] = []
  write(createLog('trace', 42, { write: (line) => lines.push(line) }))
  return lines.join('')
}

test('a line is JSON with level, time, process, message and the fields that are allowed', () => {
  const line = captured((log) =>
    log.info({ route: '/v1/claims', method: 'POST', status: 201, request_id: 'r1' }, 'request'),
  )
  expect(JSON.parse(line)).toMatchObject({
    level: 30,
    pid: 42,
    msg: 'request',
    route: '/v1/claims',
    status: 201,
    request_id: 'r1',
  })
  expect(JSON.parse(line).time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test('headers, bodies, tokens, keys and connection strings are dropped whatever field they come in', () => {
  const secrets = {
    headers: { authorization: `Bearer ${canary}` },
    authorization: canary,
    body: { payload: canary },
    payload: canary,
    result: canary,
    claim_token: canary,
    key: canary,
    admin_key: canary,
    url: `postgres://u:${canary}@h/db`,
    connection: { password: canary },
    message: canary,
    msg: canary,
    stack: canary,
    err: new Error(canary),
    req: { headers: canary },
    constructor: canary,
    [canary]: 1,
  }
  const text = captured((log) => {
    log.debug(secrets, 'message')
    log.info(secrets, 'message')
    log.warn(secrets, 'message')
    log.error(secrets, 'message')
    log.fatal(secrets, 'message')
  })
  expect(text.match(/"msg":"message"/g)).toHaveLength(5)
  expect(text).not.toContain(canary)
})

test('an allowed name with a value of another kind is dropped', () => {
  const text = captured((log) =>
    log.info({ status: canary, route: { canary }, duration_ms: canary, error: canary }, 'm'),
  )
  expect(text).toContain('"msg":"m"')
  expect(text).not.toContain(canary)
})

test('an error is described by name, code and place, without what its message quotes, its causes too', () => {
  const parse = catchError(() => JSON.parse(`{"payload": ${canary}}`))
  const wrapped = Object.assign(new TypeError(`${canary}\n    at ${canary} (/x.js:1:1)`, { cause: parse }), {
    code: 'E_TEST',
    detail: canary,
  })
  const text = captured((log) => log.error({ error: wrapped }, 'failed'))
  const { error } = JSON.parse(text)
  expect(error).toMatchObject({ name: 'TypeError', code: 'E_TEST', cause: { name: 'SyntaxError' } })
  expect(error.at[0]).toContain('log.test.ts')
  expect(text).not.toContain(canary)
})

test.each([
  new StoreError('overloaded', 'the queue is full'),
  new PostgresRefused('This is PostgreSQL 13.', { code: 'too_old' }),
  new EmbeddedPostgresError('The disk is full.', { code: 'disk_full' }),
])('the message of an error of this service is kept: $name', (error) => {
  const { name, code, message } = error
  const text = captured((log) => log.error({ error }, 'failed'))
  expect(JSON.parse(text).error).toMatchObject({ name, code, message })
})

test('lines below the level are not written', () => {
  const lines: string[] = []
  const log = createLog('warn', 1, { write: (line) => lines.push(line) })
  log.info({}, 'quiet')
  log.warn({}, 'loud')
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['loud'])
})

function catchError(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
