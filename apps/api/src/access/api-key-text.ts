import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 59 bits: ids never meet, and tell nothing. */
const idChars = 10
/** 256 bits. */
const secretBytes = 32
const secretChars = 43
/** CRC-32 in base 62: whoever finds a text like a key, a secret scanner say, can tell without asking whether it is one. */
const checkChars = 6

const PREFIX = 'rbk_'
const keyChars = PREFIX.length + idChars + 1 + secretChars + checkChars

/** A fresh key `rbk_<id>_<secret>` from 256 random bits. `randomBytes` must be unpredictable. */
export function makeApiKey(randomBytes: (count: number) => Uint8Array): { id: string; text: string } {
  const id = base62(randomBytes(8), idChars)
  const unchecked = `${PREFIX}${id}_${base62(randomBytes(secretBytes), secretChars)}`
  return { id, text: `${unchecked}${checksum(unchecked)}` }
}

/** Which key a text would be by its form; null for any other text. Says nothing about the secret, nor the checksum. */
export function apiKeyId(text: string): string | null {
  const idEnd = PREFIX.length + idChars
  const hasForm = text.length === keyChars && text.startsWith(PREFIX) && text[idEnd] === '_'
  return hasForm ? text.slice(PREFIX.length, idEnd) : null
}

/** SHA-256 of a key in hex: all that is stored of its secret. 256 random bits need no slow hash. */
export function apiKeyDigest(text: string): string {
  return hash('sha256', text, 'hex')
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
