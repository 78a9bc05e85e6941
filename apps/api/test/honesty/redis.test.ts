import { randomUUID } from 'node:crypto'
import { policySchema } from '@ranbook/contract'
import { expect, onTestFinished, test } from 'vitest'
import { createRedisAccount } from '../../src/jobs/redis-account.ts'
import { startRedisWatch } from '../../src/jobs/redis-watch.ts'
import { createClassBook } from '../../src/ledger/create-class-book.ts'
import { createPairRegistry } from '../../src/ledger/create-pair-registry.ts'
import { createWindows } from '../../src/ledger/create-windows.ts'
import type { LedgerDeps } from '../../src/ledger/ledger-deps.ts'
import { type LookupDeps, lookup } from '../../src/ledger/lookup.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { createRedisStateStore } from '../../src/stores/postgres/redis-state-store.ts'
import { openRedis } from '../../src/stores/redis/open-redis.ts'
import { createWindowStore } from '../../src/stores/window/create-window-store.ts'
import { coldDatabase } from '../cold/cold-database.ts'
import { claim, settle } from '../conformance/answered-verbs.ts'
import { claimRequest } from '../conformance/new-record.ts'
import { startRedisProcess } from '../redis-watch/redis-process.ts'
import { policyAudit } from './policy-audit.ts'

const database = await coldDatabase()
const everywhere = { classes: ['*'], consumer: null }

/** The product's windows over a Redis of the test's own, with the watch that runs beside them. */
async function startProcess(className: string) {
  const server = await startRedisProcess()
  const redis = await openRedis({ url: server.url, failed: () => {} })
  const { records, windows: cells, cold } = await database.open()
  const classStore = createClassStore(cold)
  const policy = policySchema.parse({ store: 'window', window_ms: 3_600_000 })
  await classStore.changePolicy(className, () => ({ policy, diff: {}, audit: policyAudit(className) }))
  const monotonicMs = (): number => performance.now()
  const classes = await createClassBook({ store: classStore, monotonicMs })
  const { storeNow } = classes
  const account = createRedisAccount({
    redis,
    state: createRedisStateStore(cold),
    storeNow,
    newEpoch: randomUUID,
    lost: () => {},
  })
  const ignored = (): void => {}
  const told = { warned: ignored, mended: ignored, failed: ignored }
  const watch = startRedisWatch({ redis, account, storeNow, monotonicMs, ...told })
  onTestFinished(async () => {
    await watch.stop()
    await redis.close()
  })
  await watch.looked
  const { usable, confirmed } = watch
  const redisWindow = { claims: createWindowStore(redis.cells, 'redis'), usable, confirmed }
  const windows = createWindows({ classes, store: classStore, postgres: cells, redis: redisWindow, failed: ignored })
  const observer = { claimed: ignored, answered: ignored, settled: ignored, expired: ignored }
  const ledger: LedgerDeps = {
    store: records,
    windows,
    policies: classes,
    pairs: createPairRegistry(classStore, classes),
    observer,
    random: () => 0.5,
    newToken: randomUUID,
  }
  const lookups: LookupDeps = { store: records, windows, classes, now: Date.now }
  const ask = async (key: string) => {
    const answer = await lookup(lookups, everywhere, { q: key, class: className, consumer: null, at: null })
    if (answer.kind !== 'answered') throw new Error('there are few pairs')
    return answer
  }
  const run = async (key: string): Promise<void> => {
    const claimToken = randomUUID()
    const [made] = await claim(ledger, [claimRequest({ class: className, key, claimToken })])
    if (made?.outcome !== 'claimed') throw new Error('it is claimed for the first time')
    const { digest } = made.record
    const command = { verb: 'complete', result: null } as const
    await settle(ledger, everywhere, [{ store: 'window', digest, claimToken, command }])
  }
  return { server, ask, run }
}

test('a lookup right after a flush does not say never, whether or not anybody had noticed it', async () => {
  const { server, ask, run } = await startProcess('page.flushed')
  await run('page:1')
  expect(await ask('page:1')).toMatchObject({ verdict: 'ran' })
  expect(await ask('page:2')).toMatchObject({ verdict: 'never' })
  await server.ask('FLUSHALL')
  const answer = await ask('page:1')
  expect(answer).toMatchObject({ verdict: 'unknown', coverage: [{ gap: { kind: 'window_lost', cause: 'flushed' } }] })
  expect(answer.sentence).toContain('may be lost, as Redis was flushed between ')
})

test('while Redis is gone its classes are unknown, and what came back is told again', async () => {
  const { server, ask, run } = await startProcess('page.gone')
  await run('page:1')
  await server.kill()
  for (const key of ['page:1', 'page:2']) {
    const answer = await ask(key)
    expect(answer).toMatchObject({ verdict: 'unknown', coverage: [{ gap: { kind: 'window_unreachable' } }] })
    expect(answer.sentence).toContain('the window of page.gone can not be asked now')
  }
  await server.start()
  await expect.poll(async () => (await ask('page:1')).verdict, { timeout: 10_000 }).toBe('ran')
})
