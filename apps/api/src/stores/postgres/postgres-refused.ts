/**
 * Why a database that can be reached is not used.
 *
 * - `too_old`: PostgreSQL before 14.
 * - `not_durable`: it may lose what it acknowledged.
 * - `newer_schema`: migrated by a newer Ranbook, or by something else.
 * - `busy`: other sessions held the tables for so long that the schema could not be changed.
 */
export type PostgresRefusedCode = 'too_old' | 'not_durable' | 'newer_schema' | 'busy'

/** A refusal to use a database. The message is a sentence for the operator that says what to do. */
export class PostgresRefused extends Error {
  override readonly name = 'PostgresRefused'
  readonly code: PostgresRefusedCode

  constructor(message: string, { code, cause }: { code: PostgresRefusedCode; cause?: unknown }) {
    super(message, { cause })
    this.code = code
  }
}
