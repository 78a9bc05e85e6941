import { vi } from 'vitest'

/** Resolves once `condition` holds; only ends what would hang. */
export async function until(condition: () => boolean): Promise<void> {
  await vi.waitUntil(condition, { timeout: 20_000, interval: 5 })
}
