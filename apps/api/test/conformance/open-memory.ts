import { createMemoryStore } from '@ranbook/rules'
import type { OpenedStore } from './store-under-test.ts'

/** A memory store whose clock stands still until somebody waits for it. */
export async function openMemory(): Promise<OpenedStore> {
  const clock = { now: Date.UTC(2026, 10, 30, 10) }
  const store = createMemoryStore({ now: () => clock.now })
  return {
    store,
    audit: store,
    clockPasses: async (time) => {
      clock.now = Math.max(clock.now, time + 1)
    },
    close: async () => {},
  }
}
