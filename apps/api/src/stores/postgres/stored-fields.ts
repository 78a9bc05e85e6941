import type { Details, Fingerprint, ReplayFacts } from '@ranbook/rules'
import { fingerprintKindCodes, wordsOf } from './record-codes.ts'

const computedForm = /^sha256:[0-9a-f]{64}$/
const kindOf = wordsOf(fingerprintKindCodes)

const digestHexChars = 64

/**
 * A fingerprint as hex digits of what is stored: the digest itself where it was computed, followed by the tag of its
 * rule where that is not the whole payload; else the text in UTF-8. Throws where a computed one is not `sha256:` and 64
 * lower-case hex digits, as `computeFingerprint` makes it.
 */
export function fingerprintHex({ kind, value, rule }: Fingerprint): string {
  switch (kind) {
    case 'given':
      return Buffer.from(value).toString('hex')
    case 'computed':
      if (!computedForm.test(value)) throw new TypeError('a computed fingerprint is sha256: and 64 hex digits')
      return value.slice('sha256:'.length) + (rule ?? '')
  }
}

/** The fingerprint of a row; `text` is a bytea's own text, `\x` and hex digits. */
export function storedFingerprint(kindCode: number | null, text: string | null): Fingerprint | null {
  if (kindCode === null || text === null) return null
  const kind = kindOf(kindCode)
  const hex = text.slice(2)
  if (kind === 'given') return { kind, value: Buffer.from(hex, 'hex').toString() }
  const value = `sha256:${hex.slice(0, digestHexChars)}`
  const rule = hex.slice(digestHexChars)
  return rule === '' ? { kind, value } : { kind, value, rule }
}

/** The replay of a row: the service's own JSON. */
export function storedReplay(text: string | null): ReplayFacts | null {
  return text === null ? null : (JSON.parse(text) as ReplayFacts)
}

// References have no control characters, so one can stand between them: an array of arrays can't be unnested.
const between = '\u001f'

/** References as one text, which the statements take apart at U+001F. */
export function joinedRefs(refs: Details['refs']): string | null {
  return refs === null ? null : refs.join(between)
}

/** What `joinedRefs` made, taken apart. A reference is never empty, so an empty text is an empty list. */
export function splitRefs(joined: string | null): string[] | null {
  if (joined === null) return null
  return joined === '' ? [] : joined.split(between)
}

/** A column's time, read as seconds since 1970, in whole milliseconds. */
export function storedTime(seconds: number): number
export function storedTime(seconds: number | null): number | null
export function storedTime(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1000)
}

/** A digest as a uuid column shows it. */
export function storedDigest(uuid: string): string {
  return uuid.replaceAll('-', '')
}
