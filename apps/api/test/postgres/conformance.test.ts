import { coalesce } from '../../src/stores/coalesce.ts'
import { createPostgresStore } from '../../src/stores/postgres/create-postgres-store.ts'
import { recordStoreConformance } from '../conformance/record-store-conformance.ts'
import { laneCount, lanesOf } from './lanes-of.ts'
import { openStore } from './open-store.ts'

recordStoreConformance('the Postgres store, as the product opens it', () =>
  openStore(async ({ postgres }) => ({ store: postgres.records, close: async () => undefined })),
)

recordStoreConformance('the Postgres store as behind a pooler, in small batches', () =>
  openStore(async ({ target }) => {
    const lanes = lanesOf(target, { settings: {}, named: false })
    const store = coalesce(createPostgresStore({ gathered: lanes, beside: lanes, reads: lanes }), {
      // Leaves some lanes to what is not gathered.
      inFlightMax: laneCount / 2,
      worthRows: 2,
      gatherMaxMs: 1,
      batchRowsMax: 3,
      batchBytesMax: 1e9,
      queuedRowsMax: 1e6,
      queuedBytesMax: 1e9,
      settleReserve: 0.2,
      waitMaxMs: 30_000,
      stalledMs: 30_000,
      monotonicMs: () => performance.now(),
    })
    return { store, close: lanes.close }
  }),
)
