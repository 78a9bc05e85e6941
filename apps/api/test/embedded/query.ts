import postgres, { type Row } from 'postgres'
import type { EmbeddedConnection } from '../../src/stores/postgres/embedded-ready.ts'

/** Runs one statement on a connection of its own. */
export async function query(connection: EmbeddedConnection, statement: string): Promise<Row[]> {
  // Its query for array types, when a recovering database refuses it, would be a rejection that nobody can handle.
  const sql = postgres({ ...connection, max: 1, fetch_types: false })
  try {
    return await sql.unsafe(statement)
  } finally {
    // Without a limit it would wait for ever for a connection that the server has cut.
    await sql.end({ timeout: 0 })
  }
}
