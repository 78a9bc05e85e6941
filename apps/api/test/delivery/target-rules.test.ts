import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressTest } from '../../src/delivery/address-range.ts'
import { innerAddress } from '../../src/delivery/inner-address.ts'
import { parseTargetAllowlist } from '../../src/delivery/target-allowlist.ts'
import { createTargetRules } from '../../src/delivery/target-rules.ts'

const anywhere = createTargetRules(null)
const only = (list: string) => createTargetRules(parseTargetAllowlist(list))

test.each([
  '8.8.8.8',
  '10.1.2.3',
  '127.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '::1',
  'fd12:3456:789a::1',
  '2606:4700::1111',
  '::ffff:10.1.2.3',
  '::10.1.2.3',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
])('without an allow-list %s may be sent to', (address) => {
  expect(anywhere.refusal('hooks.example.com', [address])).toBeNull()
})

const neverSentTo = [
  ['metadata', '169.254.169.254'],
  ['metadata of containers', '169.254.170.2'],
  ['link-local', '169.254.0.1'],
  ['metadata of Alibaba Cloud', '100.100.100.200'],
  ['host services of Azure', '168.63.129.16'],
  ['former metadata of Oracle Cloud', '192.0.0.192'],
  ['unspecified', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['multicast', '224.0.0.1'],
  ['multicast', '239.255.255.255'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.1'],
  ['documentation', '203.0.113.1'],
  ['benchmarks', '198.19.255.255'],
  ['metadata of AWS', 'fd00:ec2::254'],
  ['credentials of AWS', 'fd00:ec2::23'],
  ['metadata of Google Cloud', 'fd20:ce::254'],
  ['metadata of Oracle Cloud', 'fd00:c1::a9fe:a9fe'],
  ['metadata of Scaleway', 'fd00:42::42'],
  ['unspecified', '::'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['loopback with a zone', '::1%lo'],
  ['metadata on a link', 'fe80::a9fe:a9fe'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['discard', '100::1'],
  ['not given out', '4000::1'],
  ['mapped', '::ffff:169.254.169.254'],
  ['mapped in hex', '::ffff:a9fe:a9fe'],
  ['mapped in full', '0:0:0:0:0:FFFF:A9FE:A9FE'],
  ['compatible', '::169.254.169.254'],
  ['translated', '::ffff:0:169.254.169.254'],
  ['NAT64', '64:ff9b::169.254.169.254'],
  ['NAT64 of a local prefix', '64:ff9b:1::a9fe:a9fe'],
  ['6to4', '2002:a9fe:a9fe::1'],
  ['6to4 in another spelling', '2002:A9FE:a9fe:0:0::1'],
  ['no address', 'hooks.example.com'],
  ['a short form, which no resolver gives', '127.1'],
] as const

test.each(neverSentTo)('%s: %s is never sent to, even where the allow-list has all there is', (_kind, address) => {
  for (const rules of [anywhere, only('0.0.0.0/0, ::/0, hooks.example.com')]) {
    expect(rules.refusal('hooks.example.com', [address])).toMatch(/nothing is ever sent there\.$/)
    expect(rules.refusal('hooks.example.com', ['8.8.8.8', address])).toMatch(/nothing is ever sent there\.$/)
    expect(rules.refusal('hooks.example.com', [address, '8.8.8.8'])).toMatch(/nothing is ever sent there\.$/)
  }
})

describe('an allow-list', () => {
  const rules = only('hooks.example.com, *.internal.example, 10.0.0.0/8, 192.168.1.7, fd12::/16, Bücher.example.')

  test.each([
    'hooks.example.com',
    'hooks.example.com.',
    'a.internal.example',
    'a.b.internal.example',
    'xn--bcher-kva.example',
  ])('lets the listed name %s be sent to wherever it leads, save where nothing may go', (host) => {
    expect(rules.refusal(host, ['203.0.114.1', '127.0.0.1'])).toBeNull()
    expect(rules.refusal(host, ['169.254.169.254'])).not.toBeNull()
  })

  test.each([
    'example.com',
    'xhooks.example.com',
    'internal.example',
    'xinternal.example',
    'hooks.example.com.evil.test',
  ])('does not take %s for a listed name', (host) => {
    expect(rules.refusal(host, ['8.8.8.8'])).toBe(`${host} leads to 8.8.8.8, which is not in RANBOOK_TARGET_ALLOWLIST.`)
  })

  test('lets another name be sent to when all its addresses lie in listed ranges', () => {
    expect(rules.refusal('worker', ['10.255.0.1', '192.168.1.7', 'fd12::9'])).toBeNull()
    expect(rules.refusal('worker', ['10.255.0.1', '192.168.1.8'])).toContain('192.168.1.8')
    expect(rules.refusal('worker', ['11.0.0.1'])).toContain('11.0.0.1')
  })

  test('judges IPv6 forms by the IPv4 address in them, by no range of IPv6', () => {
    const addresses = ['::ffff:10.0.0.1', '::10.0.0.1', '64:ff9b::10.0.0.1', '2002:a00:1::']
    for (const address of addresses) {
      expect(rules.refusal('worker', [address])).toBeNull()
      expect(only('2000::/3, ::/0').refusal('worker', [address])).toContain(address)
    }
  })

  test('without ranges refuses an unlisted name before it is resolved; with ranges its addresses decide', () => {
    expect(only('hooks.example.com').refusal('worker', [])).toBe('worker is not in RANBOOK_TARGET_ALLOWLIST.')
    expect(only('hooks.example.com').refusal('hooks.example.com', [])).toBeNull()
    expect(rules.refusal('worker', [])).toBeNull()
  })
})

test('whether an address lies in a range is what comparing its leading bits says', () => {
  const family = fc.constantFrom({ bits: 32, text: dotted }, { bits: 128, text: grouped })
  const cases = family.chain(({ bits, text }) =>
    fc.record({
      text: fc.constant(text),
      bits: fc.constant(bits),
      network: fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }),
      flipped: fc.nat(bits - 1),
      prefixBits: fc.integer({ min: 0, max: bits }),
    }),
  )
  fc.assert(
    fc.property(cases, ({ text, bits, network, flipped, prefixBits }) => {
      const address = network ^ (1n << BigInt(flipped))
      const rest = BigInt(bits - prefixBits)
      const inRange = addressTest([{ address: text(network), prefixBits }])
      expect(inRange(text(address))).toBe(network >> rest === address >> rest)
      expect(inRange(text(network))).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test('every IPv4 address is found in each IPv6 form that carries it, and no other address is taken for one', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 2n, max: 2n ** 32n - 1n }),
      fc.bigInt({ min: 0n, max: 2n ** 80n - 1n }),
      (inner, rest) => {
        const forms = [
          inner,
          (0xffffn << 32n) | inner,
          (0x64ff9bn << 96n) | inner,
          (0x2002n << 112n) | (inner << 80n) | rest,
        ]
        for (const form of forms) expect(innerAddress(grouped(form))).toBe(dotted(inner))
      },
    ),
  )
  fc.assert(
    fc.property(fc.bigInt({ min: 0x2003n << 112n, max: 2n ** 128n - 1n }), (address) => {
      const text = innerAddress(grouped(address)) ?? ''
      expect(isIP(text)).toBe(6)
      expect(innerAddress(text)).toBe(text)
    }),
  )
  expect(innerAddress('0:0:0:0:0:0:0:1')).toBe('::1')
  expect(innerAddress('0:0:0:0:0:0:0:0')).toBe('::')
})

function dotted(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join('.')
}

function grouped(address: bigint): string {
  const digits = address.toString(16).padStart(32, '0')
  return Array.from({ length: 8 }, (_, at) => digits.slice(at * 4, at * 4 + 4)).join(':')
}
