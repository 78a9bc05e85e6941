import { isUtf8 } from 'node:buffer'
import { limits } from '@ranbook/contract'
import type { GaveUp } from './json-cursor.ts'
import { findJsonFault } from './json-fault.ts'
import { type JsonShape, nameAt, type Skim, type Span, skimJson } from './skim-json.ts'

export type { JsonShape } from './skim-json.ts'

// Doubles written in full take at most 309 digits before the point; nobody's id or amount is longer. A bound is needed
// because a number's exact value is compared, and arithmetic on a megabyte of exponent digits is not free.
const NUMBER_MAX_CHARS = 400

// A name may be as long as the body; a refusal shows this much of it.
const SHOWN_NAME_MAX_CHARS = 100

/** A member's value as the text it came as, without white space around it. What it says is known to be JSON. */
export class JsonText {
  /** One JSON value, character for character. */
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A body in which a list holds more items than its shape lets it: `400 invalid_request`. */
export class TooManyItems {
  readonly ok = false
  readonly code = 'invalid_request'
  /** The list's name. */
  readonly path: string
  readonly detail: string

  constructor(list: string, maxItems: number) {
    this.path = list
    this.detail = `must hold at most ${maxItems} items`
  }
}

/** Why a body, or one item of a batch, was not read: always `400 invalid_json`. */
export class JsonRefusal {
  readonly ok = false
  readonly code = 'invalid_json'
  /** A sentence for the caller. Never more of the body than one member's name. */
  readonly detail: string

  constructor(detail: string) {
    this.detail = detail
  }
}

const TOO_DEEP = new JsonRefusal(
  `Arrays and objects are nested over ${limits.jsonMaxDepth} deep, the body's own included.`,
)

const TOO_MANY_VALUES = new JsonRefusal(
  'The body, or one item of it, holds more than 1000 values beside its opaque ones.',
)

/** What `readJson` answers. */
export type JsonReading = { readonly ok: true; readonly value: unknown } | JsonRefusal | TooManyItems

/**
 * Reads a request body exactly. Never throws for a bad body.
 *
 * Refused: ill-formed UTF-8, a byte order mark, what JSON.parse refuses, containers nested over 64 deep with the
 * envelope counted, a number of over 400 characters, and a member named twice in the body or in an object that `shape`
 * describes (escaped spellings of a name are the same name). An object in a list of `shape` is an envelope of its own:
 * its depth counts from itself, and if it is refused a `JsonRefusal` stands in its place while the others are read. More
 * items than the list may hold, or over 1 000 values in one envelope beside its texts, refuse the body: its memory is
 * bounded by its size.
 *
 * Members that `shape` calls `'text'` come back as `JsonText`, so digits, member order, repeats and escapes are kept.
 * They hold on to nothing of the body around them.
 * `__proto__` is an own property like any other.
 */
export function readJson(bytes: Uint8Array, shape: JsonShape): JsonReading {
  if (!isUtf8(bytes)) return new JsonRefusal('The body is not well-formed UTF-8.')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return new JsonRefusal('The body begins with a byte order mark; send the JSON without it.')
  }
  const text = decode(bytes)
  const skim = skimJson(text, shape)
  if (skim.gaveUp !== null) return refusalOf(skim.gaveUp)
  const tooLarge = judgeSize(skim)
  if (tooLarge !== null) return tooLarge
  let value: unknown
  try {
    value = parseAround(text, skim.texts)
  } catch {
    // The engine's own message quotes the body.
    return new JsonRefusal(describeFault(text))
  }
  return putInPlace(text, skim, value) ?? { ok: true, value }
}

function refusalOf(gaveUp: GaveUp): JsonRefusal | TooManyItems {
  if (gaveUp === 'too_deep') return TOO_DEEP
  if (gaveUp === 'too_many_values') return TOO_MANY_VALUES
  return new TooManyItems(gaveUp.list, gaveUp.maxItems)
}

/**
 * What JSON.parse makes of the body, 0 standing for each text. Throws what it throws. Each text is judged by itself, so
 * that its values are built one text at a time, and where it is too large for any limit not at all.
 */
function parseAround(text: string, texts: readonly Span[]): unknown {
  let around = ''
  let from = 0
  for (const { start, end } of texts) {
    const inner = text.slice(start, end)
    if (inner.length <= limits.opaqueMaxBytes) JSON.parse(inner)
    else if (findJsonFault(inner) !== null) throw new SyntaxError('a text is not JSON')
    around += `${text.slice(from, start)}0`
    from = end
  }
  return JSON.parse(around + text.slice(from))
}

function judgeSize(skim: Skim): JsonRefusal | null {
  if (skim.depth > limits.jsonMaxDepth) return TOO_DEEP
  if (skim.longestNumber > NUMBER_MAX_CHARS) {
    return new JsonRefusal(`A number is longer than ${NUMBER_MAX_CHARS} characters; send it as a string.`)
  }
  return null
}

/** Puts texts and refused items into the parsed value; a name that `skim` itself has twice refuses the whole. */
function putInPlace(text: string, skim: Skim, value: unknown): JsonRefusal | null {
  if (!isObject(value)) return null
  // JSON.parse lets the last one win, silently.
  if (Object.keys(value).length !== skim.nameStarts.length) return new JsonRefusal(describeRepeat(text, skim))
  for (const { name, seen } of skim.found) {
    if (typeof seen === 'string') {
      value[name] = new JsonText(detached(seen, text))
    } else if (Array.isArray(seen)) {
      putRefusalsInPlace(text, seen, value[name])
    } else {
      const refusal = putInPlace(text, seen, value[name])
      if (refusal !== null) return refusal
    }
  }
  return null
}

function putRefusalsInPlace(text: string, skims: readonly (Skim | null)[], items: unknown): void {
  if (!Array.isArray(items)) return
  for (let index = 0; index < skims.length; index++) {
    const skim = skims[index]
    if (!skim) continue
    const refusal = judgeSize(skim) ?? putInPlace(text, skim, items[index])
    if (refusal !== null) items[index] = refusal
  }
}

/** Up to this much of a body may be held for a text within it: copying small ones costs more than it frees. */
const heldAroundMaxChars = 4096

/** The engine keeps the whole text of which another one is a slice; a copy keeps itself alone. */
function detached(slice: string, whole: string): string {
  return whole.length - slice.length <= heldAroundMaxChars ? slice : Buffer.from(slice).toString()
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function decode(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('utf8')
}

function describeFault(text: string): string {
  const at = findJsonFault(text)
  if (at === null || at >= text.length) return 'The body is not valid JSON: it ends too early.'
  const line = text.slice(0, at).split('\n')
  return `The body is not valid JSON: see line ${line.length}, column ${(line.at(-1) ?? '').length + 1}.`
}

function describeRepeat(text: string, skim: Skim): string {
  const met = new Set<string>()
  const repeated = skim.nameStarts.map((start) => nameAt(text, start)).find((name) => met.size === met.add(name).size)
  return `The member ${JSON.stringify((repeated ?? '').slice(0, SHOWN_NAME_MAX_CHARS))} is named twice.`
}
