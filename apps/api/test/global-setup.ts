import { rm } from 'node:fs/promises'
import type { TestProject } from 'vitest/node'
import { openEmbedded } from '../src/stores/postgres/open-embedded.ts'
import { enterableFolder } from './embedded/enterable-folder.ts'
import type {} from './throwaway-postgres.ts'

/** One throwaway PostgreSQL for the whole run, started as the product starts its own, but never flushing to disk. */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await enterableFolder()
  const silent = { info: () => {}, warn: () => {} }
  const server = await openEmbedded({ dataDir: folder, log: silent, fsync: false, throughClosedParents: true })
  project.provide('throwawayServer', server.connection)
  return async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  }
}
