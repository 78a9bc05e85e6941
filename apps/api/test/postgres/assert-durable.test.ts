import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { assertDurable } from '../../src/stores/postgres/assert-durable.ts'
import { openForTest } from '../embedded/open-for-test.ts'
import { begunDataDir } from '../embedded/temporary-data-dir.ts'

async function sessionOn(options: { fsync: boolean; connection?: Record<string, string> }) {
  const database = await openForTest(await begunDataDir(), { fsync: options.fsync })
  const sql = postgres({ ...database.connection, max: 1, connection: options.connection ?? {} })
  onTestFinished(() => sql.end({ timeout: 1 }))
  return sql
}

test('a server that does not flush is refused, and the sentence names what to turn on', async () => {
  await expect(assertDurable(await sessionOn({ fsync: false }))).rejects.toMatchObject({
    name: 'PostgresRefused',
    code: 'not_durable',
    message: expect.stringMatching(/fsync=off.* Turn it on to start/),
  })
})

test('a role that does not wait for the flush is refused', async () => {
  const sql = await sessionOn({ fsync: true, connection: { synchronous_commit: 'off' } })
  await expect(assertDurable(sql)).rejects.toThrow('runs with synchronous_commit=off')
})

test('a durable server is taken', async () => {
  await assertDurable(await sessionOn({ fsync: true }))
})
