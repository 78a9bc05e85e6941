/** The server can't start as it is configured. The message is a sentence for the operator that says what to do. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
}
