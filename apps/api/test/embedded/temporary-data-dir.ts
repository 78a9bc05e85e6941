import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { enterableFolder } from './enterable-folder.ts'
import { processesIn } from './processes-in.ts'

/**
 * The path of a data folder that doesn't exist yet, for one test. When the test is over every process in it must have
 * ended, and it's removed.
 */
export async function temporaryDataDir(): Promise<string> {
  const parent = await enterableFolder()
  const dataDir = join(parent, 'data')
  onTestFinished(async () => {
    await vi.waitUntil(() => processesIn(dataDir).length === 0, { timeout: 10_000 })
    await rm(parent, { recursive: true })
  })
  return dataDir
}
