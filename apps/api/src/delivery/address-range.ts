import { BlockList, isIP } from 'node:net'

/** A network, such as 10.0.0.0 with 8 bits. Bits of `address` past the prefix mean nothing. */
export type AddressRange = { address: string; prefixBits: number }

/**
 * A test whether an address, as `innerAddress` gives it, lies in one of the ranges. IPv4 addresses are looked for in
 * ranges of IPv4 only, and IPv6 ones in those of IPv6.
 *
 * @throws when a range is none
 */
export function addressTest(ranges: readonly AddressRange[]): (address: string) => boolean {
  // Two lists: in one, Node finds IPv4 addresses in ranges of IPv6 such as ::/0.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const { address, prefixBits } of ranges) {
    const family = familyOf(address)
    lists[family].addSubnet(address, prefixBits, family)
  }
  return (address) => {
    const family = familyOf(address)
    return lists[family].check(address, family)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
