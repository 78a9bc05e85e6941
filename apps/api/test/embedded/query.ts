import postgres, { type Row } from 'postgres'
import type { EmbeddedConnection } from '../../src/stores/postgres/embedded-ready.ts'

/** Runs one statement on a connection of its own. */
export async function query(connection: EmbeddedConnection, statement: string): Promise<Row[]> {
  const sql = postgres({ ...connection, max: 1 })
  try {
    return await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
