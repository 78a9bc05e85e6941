import { onTestFinished } from 'vitest'
import { type EmbeddedOptions, type EmbeddedPostgres, openEmbedded } from '../../src/stores/postgres/open-embedded.ts'

/** Opens the embedded database without flushing, and leaves it when the test is over. */
export async function openForTest(
  dataDir: string,
  options: Partial<Omit<EmbeddedOptions, 'dataDir'>> = {},
): Promise<EmbeddedPostgres> {
  const log = { info: () => {}, warn: () => {} }
  const embedded = await openEmbedded({ dataDir, log, fsync: false, ...options })
  onTestFinished(() => embedded.stop())
  return embedded
}
