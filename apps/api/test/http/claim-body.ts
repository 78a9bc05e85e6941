/** The least a claim needs, for consumer `worker` and class `refund.issued`. */
export function claimBody(key: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { class: 'refund.issued', consumer: 'worker', key, ...more }
}

/** A valid claim token that differs by its number. */
export function tokenOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}
