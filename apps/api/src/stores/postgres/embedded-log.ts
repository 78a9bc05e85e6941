/** What the launcher of the embedded database tells its operator; a pino logger fits. */
export type EmbeddedLog = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
