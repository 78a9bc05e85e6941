import { packedLength, packText } from './packed-text.ts'

/** Writes small numbers and short texts into few bytes, for `byteReader`. */
export type ByteWriter = {
  byte(value: number): void
  /** A whole number from 0 to below 2^53, in 7 bits a byte. */
  count(value: number): void
  /** A whole number, small where it is near 0. */
  difference(value: number): void
  /** ms, small where they are whole seconds. */
  duration(ms: number): void
  text(value: string): void
  raw(bytes: Uint8Array): void
  /** What was written. */
  done(): Buffer
}

/** A writer of at most `capacity` bytes. */
export function byteWriter(capacity: number): ByteWriter {
  const buffer = Buffer.allocUnsafe(capacity)
  let at = 0

  const byte = (value: number): void => {
    at = buffer.writeUInt8(value, at)
  }
  const count = (value: number): void => {
    let rest = value
    while (rest > 0x7f) {
      byte((rest % 0x80) + 0x80)
      rest = Math.floor(rest / 0x80)
    }
    byte(rest)
  }
  const raw = (bytes: Uint8Array): void => {
    buffer.set(bytes, at)
    at += bytes.length
  }

  return {
    byte,
    count,
    difference: (value) => count(value < 0 ? -2 * value - 1 : 2 * value),
    duration: (ms) => count(ms % 1000 === 0 ? (ms / 1000) * 2 + 1 : ms * 2),
    text(value) {
      const packed = packText(value)
      if (packed !== null) {
        count(value.length * 2 + 1)
        raw(packed)
        return
      }
      const utf8 = Buffer.from(value)
      count(utf8.length * 2)
      raw(utf8)
    },
    raw,
    done: () => buffer.subarray(0, at),
  }
}

/** At most so many bytes for a text. */
export function textCapacity(value: string): number {
  return 8 + Math.max(Buffer.byteLength(value), packedLength(value.length))
}
