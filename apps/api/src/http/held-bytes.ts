import { JsonText } from '@ranbook/rules'

/** A number, a word, a reference to something else. */
const slotBytes = 8

/** About what a value that was read from JSON keeps in memory: its texts, and a slot for each value and name. */
export function heldBytes(value: unknown): number {
  if (typeof value === 'string') return slotBytes + value.length
  if (value instanceof JsonText) return slotBytes + value.text.length
  if (typeof value !== 'object' || value === null) return slotBytes
  let bytes = slotBytes
  if (Array.isArray(value)) {
    for (const item of value) bytes += heldBytes(item)
  } else {
    for (const [name, member] of Object.entries(value)) bytes += slotBytes + name.length + heldBytes(member)
  }
  return bytes
}
