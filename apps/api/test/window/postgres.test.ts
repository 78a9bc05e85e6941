import { claimStoreConformance } from '../conformance/claim-store-conformance.ts'
import { openMigrated } from '../postgres/migrated-database.ts'
import { ledgerOfWindow } from './ledger-of-window.ts'
import { windowCases } from './window-cases.ts'

const open = async () => {
  const database = await openMigrated()
  const clockPasses = async (time: number): Promise<void> => {
    while ((await database.postgres.now()) <= time);
  }
  return { store: database.postgres.windows, clockPasses, close: database.close }
}

claimStoreConformance('windows in Postgres', async () => {
  const { store, clockPasses, close } = await open()
  return ledgerOfWindow(store, 'postgres', clockPasses, close)
})

windowCases('windows in Postgres', 'postgres', open)
