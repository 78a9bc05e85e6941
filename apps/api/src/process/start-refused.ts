import { EmbeddedPostgresError } from '../stores/postgres/embedded-error.ts'
import { PostgresRefused } from '../stores/postgres/postgres-refused.ts'

/** The server can't start as it is configured. The message is a sentence for the operator that says what to do. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
}

/** Is the message of this error a sentence for the operator, to be shown as it is? */
export function isStartRefusal(error: unknown): error is StartRefused | EmbeddedPostgresError | PostgresRefused {
  return error instanceof StartRefused || error instanceof EmbeddedPostgresError || error instanceof PostgresRefused
}
