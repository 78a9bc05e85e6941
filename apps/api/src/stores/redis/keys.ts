/** Stands before a digest: keys of others in the same Redis are unlikely to be 18 bytes that begin so. */
const prefix = Buffer.from('rb')

/** The key of a cell: the prefix and the digest's 16 bytes. */
export function cellKey(digest: string): Buffer {
  return Buffer.concat([prefix, Buffer.from(digest, 'hex')])
}
