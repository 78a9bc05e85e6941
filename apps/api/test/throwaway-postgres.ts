import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'
import type { EmbeddedConnection } from '../src/stores/postgres/embedded-ready.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The run's throwaway server; see global-setup.ts. */
    throwawayServer: EmbeddedConnection
  }
}

/** An empty database of its own for one test file. */
export type ThrowawayDatabase = {
  /** For postgres.js: `postgres({ ...connection })`. */
  readonly connection: EmbeddedConnection
  /** Cuts every connection to the database and removes it. */
  drop(): Promise<void>
}

/** Makes an empty database on the run's throwaway server (real PostgreSQL 18, nothing flushed to disk). */
export async function throwawayDatabase(): Promise<ThrowawayDatabase> {
  const server = inject('throwawayServer')
  const database = `test_${randomUUID().replaceAll('-', '')}`
  await onServer(server, `CREATE DATABASE ${database}`)
  return {
    connection: { ...server, database },
    drop: () => onServer(server, `DROP DATABASE ${database} WITH (FORCE)`),
  }
}

async function onServer(server: EmbeddedConnection, statement: string): Promise<void> {
  const sql = postgres({ ...server, max: 1 })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
