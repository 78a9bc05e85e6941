import type { EmbeddedConnection } from './embedded-ready.ts'

/** Where the database is: a URL as `DATABASE_URL` has it, or the embedded database. Plain data. */
export type PostgresTarget = string | EmbeddedConnection
