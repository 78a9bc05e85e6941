import type { RecordStore } from '@ranbook/rules'
import { createAuditStore } from '../../src/stores/postgres/audit-store.ts'
import type { OpenedStore } from '../conformance/store-under-test.ts'
import { type MigratedDatabase, openMigrated } from './migrated-database.ts'

type Chosen = { store: RecordStore; close(): Promise<void> }

/** A Postgres store for the conformance suite, on a database of its own. */
export async function openStore(choose: (database: MigratedDatabase) => Promise<Chosen>): Promise<OpenedStore> {
  const database = await openMigrated()
  const chosen = await choose(database)
  return {
    store: chosen.store,
    audit: createAuditStore(database.postgres.cold),
    clockPasses: async (time) => {
      while ((await database.postgres.now()) <= time);
    },
    close: async () => {
      await chosen.close()
      await database.close()
    },
  }
}
