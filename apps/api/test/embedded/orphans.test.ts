import { expect, test, vi } from 'vitest'
import { openForTest } from './open-for-test.ts'
import { guardsIn, processesIn } from './processes-in.ts'
import { query } from './query.ts'
import { startChild } from './start-child.ts'
import { begunDataDir } from './temporary-data-dir.ts'

const noneLeft = (dataDir: string): Promise<boolean> =>
  vi.waitUntil(() => processesIn(dataDir).length === 0, { timeout: 10_000 })

function killGuard(dataDir: string): void {
  const guards = guardsIn(dataDir)
  expect(guards).toHaveLength(2)
  for (const guard of guards) process.kill(guard, 'SIGKILL')
}

test('kill -9 of the only process that uses the database leaves none of its processes', async () => {
  const dataDir = await begunDataDir()
  const child = await startChild(dataDir)
  expect(child.opened).toMatchObject({ is: 'open', adopted: false })
  expect(processesIn(dataDir)).not.toEqual([])

  await child.kill()
  await noneLeft(dataDir)
})

test('kill -9 of the process that started the database does not disturb the one that adopted it', async () => {
  const dataDir = await begunDataDir()
  const starter = await startChild(dataDir)
  const onCrash = vi.fn()
  const adopter = await openForTest(dataDir, { onCrash })
  expect(adopter.adopted).toBe(true)

  await starter.kill()
  expect(await query(adopter.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  await adopter.stop()
  expect(onCrash).not.toHaveBeenCalled()
  expect(processesIn(dataDir)).toEqual([])
})

test("a terminal's Ctrl-C does not end the database before the process that drains", async () => {
  const child = await startChild(await begunDataDir())
  process.kill(-(child.process.pid ?? expect.fail()), 'SIGINT')
  expect(await child.tell('ask')).toEqual({ is: 'answer', value: 42 })
  expect(await child.tell('stop')).toEqual({ is: 'stopped' })
})

test('signals that a service manager sends to everybody do not reach the database through its guard', async () => {
  const dataDir = await begunDataDir()
  const embedded = await openForTest(dataDir)
  for (const guard of guardsIn(dataDir)) {
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(guard, signal)
  }
  expect(await query(embedded.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  await embedded.stop()
  expect(processesIn(dataDir)).toEqual([])
})

test('a database whose guard was killed is still ended by stop()', async () => {
  const dataDir = await begunDataDir()
  const embedded = await openForTest(dataDir)
  killGuard(dataDir)
  await embedded.stop()
  expect(processesIn(dataDir)).toEqual([])
})

test('a database whose guard and user were both killed is replaced by the next start', async () => {
  const dataDir = await begunDataDir()
  const child = await startChild(dataDir)
  const orphan = child.opened.is === 'open' ? child.opened.postmasterPid : expect.fail()
  killGuard(dataDir)
  await child.kill()
  expect(processesIn(dataDir)).toContain(orphan)

  const next = await openForTest(dataDir)
  expect(next).toMatchObject({ adopted: false })
  expect(processesIn(dataDir)).not.toContain(orphan)
  expect(await query(next.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})
