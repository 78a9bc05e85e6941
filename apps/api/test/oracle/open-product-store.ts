import type { OpenedStore } from '../conformance/store-under-test.ts'
import { openStore } from '../postgres/open-store.ts'

/** The Postgres store as the product opens it, on an empty database of its own. */
export function openProductStore(): Promise<OpenedStore> {
  return openStore(async ({ postgres }) => ({ store: postgres.records, close: async () => undefined }))
}
