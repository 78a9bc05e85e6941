/** One line of the audit: who did what to which object, and why. Written in the transaction of the change. */
export type AuditEntry = {
  /** `key:<id>`, `user:<id>` or `system`. */
  actor: string
  /** Verb of the action, such as `record.resolve` or `class.put`. */
  action: string
  /** Id or name of the object. */
  target: string
  reason: string | null
  /** JSON text of what stood before and stands after, where that is short enough to read. */
  before: string | null
  after: string | null
  requestId: string | null
}
