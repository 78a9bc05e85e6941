import { afterAll } from 'vitest'
import { claimStoreConformance } from '../conformance/claim-store-conformance.ts'
import { ledgerOfWindow } from './ledger-of-window.ts'
import { openRedisWindow } from './open-redis-window.ts'
import { startRedis } from './start-redis.ts'
import { windowCases } from './window-cases.ts'

const servers = await startRedis()
afterAll(servers.stop)

claimStoreConformance('windows in Redis', async () => {
  const { store, clockPasses, close } = await openRedisWindow(servers)
  return ledgerOfWindow(store, 'redis', clockPasses, close)
})

windowCases('windows in Redis', 'redis', () => openRedisWindow(servers))
