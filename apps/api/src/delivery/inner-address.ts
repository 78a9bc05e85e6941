import { isIP } from 'node:net'

/**
 * The address that a packet to `address` is really for, in its one usual spelling: an IPv6 address that carries an IPv4
 * one (mapped `::ffff:a.b.c.d`, compatible `::a.b.c.d`, NAT64 `64:ff9b::a.b.c.d`, 6to4 `2002:…`) becomes that IPv4
 * address, any other stays what it is. Null for a text that is no address, or one with a zone (`fe80::1%eth0`), which
 * means something on this machine only.
 */
export function innerAddress(address: string): string | null {
  const family = isIP(address)
  if (family !== 6) return family === 4 ? address : null
  const bracketed = `http://[${address}]/`
  if (!URL.canParse(bracketed)) return null
  const text = new URL(bracketed).hostname.slice(1, -1)
  const groups = groupsOf(text)
  const [, first = 0, second = 0] = groups
  const [sixth = 0, seventh = 0, eighth = 0] = groups.slice(5)
  if (groups[0] === 0x2002) return dotted(first, second)
  if (isPrefix(groups, [0x64, 0xff9b, 0, 0, 0, 0])) return dotted(seventh, eighth)
  const isCompatible = sixth === 0 && text !== '::' && text !== '::1'
  if (isPrefix(groups, [0, 0, 0, 0, 0]) && (sixth === 0xffff || isCompatible)) return dotted(seventh, eighth)
  return text
}

/** The eight numbers of an address that has no dots in it. */
function groupsOf(text: string): number[] {
  const [head = [], tail = []] = text.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
}

function isPrefix(groups: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((group, at) => groups[at] === group)
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}
