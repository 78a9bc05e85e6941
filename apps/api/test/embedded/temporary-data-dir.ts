import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, onTestFinished, vi } from 'vitest'
import { openEmbedded } from '../../src/stores/postgres/open-embedded.ts'
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

/** As `temporaryDataDir`, but the folder holds a stopped database already, made once per test file. */
export async function begunDataDir(): Promise<string> {
  const dataDir = await temporaryDataDir()
  begun ??= beginOnce()
  execFileSync('cp', ['-a', await begun, dataDir])
  return dataDir
}

let begun: Promise<string> | undefined
afterAll(async () => {
  if (begun !== undefined) await rm(dirname(await begun), { recursive: true })
})

async function beginOnce(): Promise<string> {
  const parent = await enterableFolder()
  const dataDir = join(parent, 'begun')
  const log = { info: () => {}, warn: () => {} }
  const embedded = await openEmbedded({ dataDir, log, fsync: false })
  await embedded.stop()
  return dataDir
}
