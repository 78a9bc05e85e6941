import { addressTest } from './address-range.ts'

// What is not named here is refused. Of IPv6 that leaves out all that is link-local, multicast or not given out yet.
const reachable = addressTest([
  { address: '0.0.0.0', prefixBits: 0 },
  { address: '2000::', prefixBits: 3 }, // global unicast
  { address: 'fc00::', prefixBits: 7 }, // private
  { address: '::1', prefixBits: 128 }, // loopback
])

// The special-purpose registries of IANA, less loopback, the private ranges and 100.64.0.0/10, where services do run.
const reserved = addressTest([
  { address: '0.0.0.0', prefixBits: 8 }, // "this network": on many systems another name of loopback
  { address: '169.254.0.0', prefixBits: 16 }, // link-local; most clouds' metadata
  { address: '192.0.0.0', prefixBits: 24 }, // protocol assignments
  { address: '192.0.2.0', prefixBits: 24 }, // documentation
  { address: '192.88.99.0', prefixBits: 24 }, // former 6to4 relays
  { address: '198.18.0.0', prefixBits: 15 }, // benchmarks
  { address: '198.51.100.0', prefixBits: 24 }, // documentation
  { address: '203.0.113.0', prefixBits: 24 }, // documentation
  { address: '224.0.0.0', prefixBits: 4 }, // multicast
  { address: '240.0.0.0', prefixBits: 4 }, // future use, broadcast
  { address: '2001::', prefixBits: 23 }, // protocol assignments, Teredo among them
  { address: '2001:db8::', prefixBits: 32 }, // documentation
  { address: '3fff::', prefixBits: 20 }, // documentation
])

// Metadata and host services of clouds that lie outside the link-local ranges: they hand out credentials.
const cloudServices = addressTest([
  { address: '100.100.100.200', prefixBits: 32 }, // Alibaba Cloud
  { address: '168.63.129.16', prefixBits: 32 }, // Azure
  { address: 'fd00:ec2::', prefixBits: 32 }, // AWS
  { address: 'fd20:ce::254', prefixBits: 128 }, // Google Cloud
  { address: 'fd00:c1::a9fe:a9fe', prefixBits: 128 }, // Oracle Cloud
  { address: 'fd00:42::42', prefixBits: 128 }, // Scaleway
  { address: 'fd00:a9fe:a9fe::1', prefixBits: 128 }, // Linode
  { address: 'fd00:100::100:200', prefixBits: 128 }, // Alibaba Cloud
])

/**
 * May anything ever be sent to this address, whatever the allow-list says? Not to link-local, metadata, multicast,
 * unspecified, broadcast and reserved ones. `address` is as `innerAddress` gives it.
 */
export function mayBeReached(address: string): boolean {
  return reachable(address) && !reserved(address) && !cloudServices(address)
}
