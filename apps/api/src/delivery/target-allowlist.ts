import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { AddressRange } from './address-range.ts'
import { innerAddress } from './inner-address.ts'

/** Where may be sent to, as plain data. */
export type TargetAllowlist = {
  /** As URLs spell them: lower case, Punycode, no dot at the end. */
  names: string[]
  /** `.example.com` for all names below example.com. */
  suffixes: string[]
  ranges: AddressRange[]
}

/** An entry that can't be understood. The message reads on after the variable's name. */
export class TargetAllowlistRefused extends Error {
  override readonly name = 'TargetAllowlistRefused'
}

/**
 * Reads `RANBOOK_TARGET_ALLOWLIST`: host names, patterns such as `*.example.com` (every name below it, not itself),
 * addresses and CIDR ranges, with commas between them.
 *
 * @throws TargetAllowlistRefused
 */
export function parseTargetAllowlist(text: string): TargetAllowlist {
  const list: TargetAllowlist = { names: [], suffixes: [], ranges: [] }
  for (const entry of text.split(',').map((part) => part.trim())) {
    const range = rangeOf(entry)
    if (range !== null) list.ranges.push(range)
    else if (entry.startsWith('*.')) list.suffixes.push(`.${nameOf(entry.slice(2), entry)}`)
    else list.names.push(nameOf(entry, entry))
  }
  return list
}

/** Null for what looks like a name. */
function rangeOf(entry: string): AddressRange | null {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? refuse(entry)
  const family = isIP(address)
  if (family === 0) return bits === undefined ? null : refuse(entry)
  const allBits = family === 4 ? 32 : 128
  const prefixBits = Number(bits ?? allBits)
  const inner = innerAddress(address)
  if (prefixBits > allBits || inner === null) refuse(entry)
  // Addresses are judged by the IPv4 address in them, so such a range would never match.
  if (isIP(inner) !== family) {
    throw new TargetAllowlistRefused(`must name IPv4 addresses as such, which ${JSON.stringify(entry)} does not`)
  }
  return { address: inner, prefixBits }
}

// Of what a URL takes as a host: labels with a dot between them, and one at the end at most.
const nameForm = /^[^\s/:@?#%*[\]\\.]+(?:\.[^\s/:@?#%*[\]\\.]+)*\.?$/

function nameOf(text: string, entry: string): string {
  const name = nameForm.test(text) ? domainToASCII(text).replace(/\.$/, '') : ''
  // Some spellings of numbers (0x7f.1) are addresses to a URL; as an entry they are a slip.
  return name === '' || isIP(name) !== 0 ? refuse(entry) : name
}

function refuse(entry: string): never {
  throw new TargetAllowlistRefused(
    'must be host names, patterns such as *.example.com, addresses or ranges such as 10.0.0.0/8, with commas between ' +
      `them, and ${JSON.stringify(entry)} is none of these`,
  )
}
