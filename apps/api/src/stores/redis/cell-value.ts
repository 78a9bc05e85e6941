import type { Cell } from '../window/cell-port.ts'

const fencingBytes = 7

/** A number below 2^53 as the 7 bytes that a value begins with. */
function fencingOf(fencingToken: number): Buffer {
  const bytes = Buffer.alloc(fencingBytes)
  bytes.writeUIntBE(Math.floor(fencingToken / 0x100), 0, 6)
  bytes[6] = fencingToken % 0x100
  return bytes
}

/** The number of such 7 bytes. */
export function readFencing(bytes: Buffer): number {
  return bytes.readUIntBE(0, 6) * 0x100 + (bytes[6] ?? 0)
}

/** 7 bits a byte, the lowest first: no version's bytes are the beginning of another's. */
function versionOf(version: number): Buffer {
  const bytes: number[] = []
  let rest = version
  while (rest > 0x7f) {
    bytes.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return Buffer.from([...bytes, rest])
}

/** The beginning of the value that has to stand. */
export function valueHead({ version, fencingToken }: Pick<Cell, 'version' | 'fencingToken'>): Buffer {
  return Buffer.concat([fencingOf(fencingToken), versionOf(version)])
}

/** What follows the fencing number, which the script writes. */
export function valueRest(version: number, body: Buffer): Buffer {
  return Buffer.concat([versionOf(version), body])
}

/** A value taken apart. */
export function cellOf(value: Buffer): Cell {
  let version = 0
  let at = fencingBytes
  for (let unit = 1; ; unit *= 0x80) {
    const next = value[at] ?? 0
    at += 1
    version += (next % 0x80) * unit
    if (next < 0x80) break
  }
  return { version, fencingToken: readFencing(value), body: value.subarray(at) }
}
