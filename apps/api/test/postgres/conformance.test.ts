import { createPostgresStore } from '../../src/stores/postgres/create-postgres-store.ts'
import { recordStoreConformance } from '../conformance/record-store-conformance.ts'
import { lanesOf } from './lanes-of.ts'
import { openStore } from './open-store.ts'

recordStoreConformance('the Postgres store, as the product opens it', () =>
  openStore(async ({ postgres }) => ({ store: postgres.records, close: async () => undefined })),
)

recordStoreConformance('the Postgres store as behind a pooler, calls not gathered', () =>
  openStore(async ({ target }) => {
    const lanes = lanesOf(target, { settings: {}, named: false })
    return { store: createPostgresStore({ hot: lanes, cold: lanes }), close: lanes.close }
  }),
)
