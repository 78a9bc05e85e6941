/**
 * A place in a JSON text, and what was met on the way there. The functions of this file move it. They trust the text to
 * be JSON; on any other text they still end, in linear time and without a throw, at some place in it.
 */
export interface JsonCursor {
  readonly text: string
  /** UTF-16 index of the next character to look at. */
  at: number
  /** Containers that are open around the cursor. */
  open: number
  /** Most containers that were open at once in what was skipped so far. */
  deepest: number
  /** Characters of the longest number skipped so far. */
  longestNumber: number
  /** Values met so far: members, elements and containers. */
  values: number
  /** Why the rest was not looked at. */
  gaveUp: GaveUp | null
}

/** Nests too deep, holds too many values, or a list of the shape holds more than its maximum. */
export type GaveUp = 'too_deep' | 'too_many_values' | { readonly list: string; readonly maxItems: number }

/** Character codes of the JSON punctuation. */
export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
export const OPEN_ARRAY = 0x5b
export const CLOSE_ARRAY = 0x5d

// Above any depth that is accepted (64), so that a batch item which is somewhat too deep can be told from its
// neighbours; far below the millions of levels on which JSON.parse spends seconds and hundreds of megabytes.
const GIVE_UP_DEPTH = 1000

/** A cursor at the beginning of `text`. */
export function jsonCursor(text: string): JsonCursor {
  return { text, at: 0, open: 0, deepest: 0, longestNumber: 0, values: 0, gaveUp: null }
}

/** Moves past white space and returns the code of the character there; NaN at the end of the text. */
export function skipSpace(cursor: JsonCursor): number {
  const { text } = cursor
  let code = text.charCodeAt(cursor.at)
  while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++cursor.at)
  return code
}

/** Stops at the end of the text, so that no caller's loop goes on. */
export function giveUp(cursor: JsonCursor, why: GaveUp): void {
  cursor.gaveUp ??= why
  cursor.at = cursor.text.length
}

/** Index after the closing quote of the string that opens at `at`; the text's length when it never closes. */
export function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    // Backslashes escape one another in pairs: after an even number of them the quote is a quote.
    if ((quote - before) % 2 === 1) return quote + 1
  }
  return text.length
}

/**
 * Moves past one value, noting how deep it nests, how long its numbers are and how many values it holds. Gives up at
 * 1 000 levels.
 */
export function skipValue(cursor: JsonCursor): void {
  const { text, open } = cursor
  let { at } = cursor
  let depth = open
  do {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      at++
      cursor.values++
      if (++depth > cursor.deepest) cursor.deepest = depth
      if (depth > GIVE_UP_DEPTH) {
        giveUp(cursor, 'too_deep')
        at = text.length
      }
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      at++
      depth--
    } else if (isWordPart(code)) {
      const start = at
      do at++
      while (isWordPart(text.charCodeAt(at)))
      if (at - start > cursor.longestNumber) cursor.longestNumber = at - start
    } else {
      if (code === COMMA) cursor.values++
      at++
    }
  } while (depth > open && at < text.length)
  cursor.at = at
}

// Digits, signs, points and letters: a number, `true`, `false` or `null`, whose lengths can be judged together because
// the words are shorter than any limit on numbers.
function isWordPart(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2e ||
    code === 0x2d ||
    code === 0x2b ||
    code === 0x45
  )
}
