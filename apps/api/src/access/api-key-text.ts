import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 59 bits: ids never meet, and tell nothing. */
const idChars = 10
/** 256 bits. */
const secretBytes = 32
const secretChars = 43
/** CRC-32: a mistyped or cut key is known as such without asking anybody, by secret scanners too. */
const checkChars = 6

const KEY = /^rbk_([0-9A-Za-z]{10})_[0-9A-Za-z]{43}([0-9A-Za-z]{6})$/

/** A fresh key `rbk_<id>_<secret>` from 256 random bits. `randomBytes` must be unpredictable. */
export function makeApiKey(randomBytes: (count: number) => Uint8Array): { id: string; text: string } {
  const id = base62(randomBytes(8), idChars)
  const unchecked = `rbk_${id}_${base62(randomBytes(secretBytes), secretChars)}`
  return { id, text: `${unchecked}${checksum(unchecked)}` }
}

/** The id in a well-formed key; null for any other text, a mistyped key included. Says nothing about the secret. */
export function apiKeyId(text: string): string | null {
  const parts = KEY.exec(text)
  if (parts === null) return null
  const [, id = '', check = ''] = parts
  return checksum(text.slice(0, -checkChars)) === check ? id : null
}

/** SHA-256 of a key: all that is stored of its secret. 256 random bits need no slow hash. */
export function apiKeyDigest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return base62(bytes, checkChars)
}

/** The number that the bytes are, in base 62, its lowest `length` digits. */
function base62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (let at = 0; at < length; at++) {
    text = `${digits[Number(rest % 62n)]}${text}`
    rest /= 62n
  }
  return text
}
