import type { AuditStore, RecordStore } from '@ranbook/rules'

/** A store as the conformance suite opens it, empty. */
export type OpenedStore = {
  store: RecordStore
  /** Reads the audit that changes of this store wrote. */
  audit: AuditStore
  /** Resolves once the store's clock is past that time in ms. */
  clockPasses(time: number): Promise<void>
  close(): Promise<void>
}

/** The store that the suite opened. Only to be called within a test. */
export type StoreUnderTest = () => OpenedStore
