import { packedLength, unpackText } from './packed-text.ts'

/** Reads what `byteWriter` wrote, in the same order. Every method throws RangeError past the end. */
export type ByteReader = {
  byte(): number
  count(): number
  difference(): number
  duration(): number
  text(): string
  raw(length: number): Buffer
}

/** Reads from the beginning of `bytes`. */
export function byteReader(bytes: Buffer): ByteReader {
  let at = 0

  const raw = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the cell ends too early')
    at += length
    return bytes.subarray(at - length, at)
  }
  const byte = (): number => raw(1)[0] ?? 0
  const count = (): number => {
    let value = 0
    for (let unit = 1; ; unit *= 0x80) {
      const next = byte()
      value += (next % 0x80) * unit
      if (next < 0x80) return value
    }
  }

  return {
    byte,
    count,
    difference() {
      const value = count()
      return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    },
    duration() {
      const value = count()
      return value % 2 === 0 ? value / 2 : ((value - 1) / 2) * 1000
    },
    text() {
      const head = count()
      const length = Math.floor(head / 2)
      return head % 2 === 0 ? raw(length).toString() : unpackText(raw(packedLength(length)), length)
    },
    raw,
  }
}
