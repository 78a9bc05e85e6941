import { expect, test } from 'vitest'
import { createHealth } from '../../src/process/health.ts'

function health(storeNow: () => Promise<number>): {
  readiness: ReturnType<typeof createHealth>['readiness']
  clock: { now: number; draining: boolean }
} {
  const clock = { now: 0, draining: false }
  const { readiness } = createHealth({
    storeNow,
    database: 'PostgreSQL',
    redis: null,
    processNow: () => clock.now,
    draining: () => clock.draining,
  })
  return { readiness, clock }
}

test('it is ready while the database answers', async () => {
  const { readiness } = health(async () => 1)
  expect(await readiness()).toEqual({ ready: true, stores: { postgres: { ok: true, note: 'PostgreSQL' } } })
})

test.each([
  { usable: true, evicts: false, shown: { ok: true, note: 'Redis' } },
  { usable: false, evicts: false, shown: { ok: false, note: 'Redis does not answer' } },
  { usable: false, evicts: true, shown: { ok: false, note: 'Redis may forget keys' } },
])('Redis is shown, and never makes it unready: $shown.note', async ({ usable, evicts, shown }) => {
  const { readiness } = createHealth({
    storeNow: async () => 1,
    database: 'PostgreSQL',
    redis: { usable: () => usable, mayEvict: () => evicts },
    processNow: () => 0,
    draining: () => false,
  })
  const postgres = { ok: true, note: 'PostgreSQL' }
  expect(await readiness()).toEqual({ ready: true, stores: { postgres, redis: shown } })
})

test('it is not ready while it drains, although the database answers', async () => {
  const { readiness, clock } = health(async () => 1)
  clock.draining = true
  expect(await readiness()).toEqual({ ready: false, stores: { postgres: { ok: true, note: 'PostgreSQL' } } })
})

test('it is not ready while the database refuses or says nothing, and ready again once it answers', async () => {
  let answer: () => Promise<number> = () => Promise.reject(new Error('gone'))
  const { readiness, clock } = health(() => answer())
  expect((await readiness()).ready).toBe(false)
  clock.now += 1000
  answer = () => new Promise(() => {})
  expect((await readiness()).ready).toBe(false)
  clock.now += 1000
  answer = async () => 1
  expect((await readiness()).ready).toBe(true)
})

test('however many ask for readiness at once, the database is asked once', async () => {
  let asked = 0
  const { readiness, clock } = health(async () => ++asked)
  await Promise.all(Array.from({ length: 100 }, readiness))
  expect(asked).toBe(1)
  clock.now += 1000
  await readiness()
  expect(asked).toBe(2)
})
