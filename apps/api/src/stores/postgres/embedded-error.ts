/**
 * Why the embedded database can't be had.
 *
 * - `unsupported_platform`: no PostgreSQL binaries for this system, or they don't run here.
 * - `no_database_user`: the operating system has no user that could run it.
 * - `folder_unusable`: the data folder can't be made, entered or owned, or holds something else.
 * - `other_major_version`: the data folder was written by another major version of PostgreSQL.
 * - `disk_full`: no space left, at the first start or a later one.
 * - `start_failed`: PostgreSQL ended, or did not get ready; the message holds its own last words.
 * - `stop_failed`: PostgreSQL did not end, although it was told to with growing force.
 */
export type EmbeddedPostgresErrorCode =
  | 'unsupported_platform'
  | 'no_database_user'
  | 'folder_unusable'
  | 'other_major_version'
  | 'disk_full'
  | 'start_failed'
  | 'stop_failed'

/** A refusal of the embedded database. The message is a sentence for the operator that says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
  readonly code: EmbeddedPostgresErrorCode

  constructor(message: string, { code, ...options }: ErrorOptions & { code: EmbeddedPostgresErrorCode }) {
    super(message, options)
    this.code = code
  }
}
