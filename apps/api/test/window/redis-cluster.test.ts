import { afterAll } from 'vitest'
import { claimStoreConformance } from '../conformance/claim-store-conformance.ts'
import { ledgerOfWindow } from './ledger-of-window.ts'
import { openRedisWindow } from './open-redis-window.ts'
import { startRedisCluster } from './start-redis.ts'
import { windowCases } from './window-cases.ts'

const servers = await startRedisCluster()
afterAll(servers.stop)

claimStoreConformance('windows in a Redis cluster of six nodes', async () => {
  const { store, clockPasses, close } = await openRedisWindow(servers)
  return ledgerOfWindow(store, 'redis', clockPasses, close)
})

windowCases('windows in a Redis cluster of six nodes', 'redis', () => openRedisWindow(servers))
