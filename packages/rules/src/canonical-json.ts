import { limits } from '@ranbook/contract'
import { canonicalNumber } from './canonical-number.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  type JsonCursor,
  jsonCursor,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
} from './json-cursor.ts'

// ECMAScript writes whole numbers of up to 21 digits without an exponent, so such a literal is canonical as it stands.
const PLAIN_WHOLE_MAX_DIGITS = 21

/**
 * The one spelling of a JSON text that all texts of the same meaning share: no white space, members sorted by the
 * UTF-16 code units of their names, strings as RFC 8785 writes them, numbers as `canonicalNumber` does. Members with the
 * same name keep their order. An escaped lone surrogate stays an escape, in lower case (RFC 8785 refuses it).
 *
 * `text` must be JSON as `readJson` lets through: valid, from well-formed UTF-8, nested at most 64 deep. Deeper text
 * throws a RangeError, broken text a SyntaxError where the fault is noticed.
 */
export function canonicalJson(text: string): string {
  const cursor = jsonCursor(text)
  const canonical = canonicalValue(cursor)
  if (!Number.isNaN(skipSpace(cursor))) throw broken(cursor)
  return canonical
}

/** Whether two JSON texts mean the same: the same characters, or the same canonical JSON. Throws as `canonicalJson`. */
export function sameJson(a: string, b: string): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b)
}

function canonicalValue(cursor: JsonCursor): string {
  switch (skipSpace(cursor)) {
    case QUOTE:
      return canonicalString(cursor)
    case OPEN_OBJECT:
      return canonicalObject(cursor)
    case OPEN_ARRAY:
      return canonicalArray(cursor)
    case 0x74:
      return word(cursor, 'true')
    case 0x66:
      return word(cursor, 'false')
    case 0x6e:
      return word(cursor, 'null')
    default:
      return number(cursor)
  }
}

interface Member {
  readonly name: string
  /** Name, colon and value, canonical. */
  readonly text: string
}

function canonicalObject(cursor: JsonCursor): string {
  enter(cursor)
  if (skipSpace(cursor) === CLOSE_OBJECT) return leave(cursor, '{}')
  const members: Member[] = []
  let inOrder = true
  let previous = ''
  let code: number
  for (;;) {
    if (skipSpace(cursor) !== QUOTE) throw broken(cursor)
    const literal = canonicalString(cursor)
    const name = unquoted(literal)
    if (skipSpace(cursor) !== COLON) throw broken(cursor)
    cursor.at++
    members.push({ name, text: `${literal}:${canonicalValue(cursor)}` })
    inOrder &&= previous <= name
    previous = name
    code = skipSpace(cursor)
    if (code !== COMMA) break
    cursor.at++
  }
  if (code !== CLOSE_OBJECT) throw broken(cursor)
  // Array.prototype.sort is stable, which keeps repeated names in their order.
  if (!inOrder) members.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  let canonical = `{${members[0]?.text}`
  for (let index = 1; index < members.length; index++) canonical += `,${members[index]?.text}`
  return leave(cursor, `${canonical}}`)
}

function canonicalArray(cursor: JsonCursor): string {
  enter(cursor)
  if (skipSpace(cursor) === CLOSE_ARRAY) return leave(cursor, '[]')
  let canonical = '['
  let code: number
  for (;;) {
    canonical += canonicalValue(cursor)
    code = skipSpace(cursor)
    if (code !== COMMA) break
    canonical += ','
    cursor.at++
  }
  if (code !== CLOSE_ARRAY) throw broken(cursor)
  return leave(cursor, `${canonical}]`)
}

function enter(cursor: JsonCursor): void {
  cursor.at++
  if (++cursor.open > limits.jsonMaxDepth) throw new RangeError(`JSON nested over ${limits.jsonMaxDepth} deep`)
}

function leave(cursor: JsonCursor, canonical: string): string {
  cursor.at++
  cursor.open--
  return canonical
}

function canonicalString(cursor: JsonCursor): string {
  const literal = cursor.text.slice(cursor.at, endOfString(cursor.text, cursor.at))
  cursor.at += literal.length
  // JSON strings may hold no raw control characters, so one without escapes is canonical as it stands.
  return literal.includes('\\') ? JSON.stringify(JSON.parse(literal)) : literal
}

/** The name that a canonical string literal spells. */
function unquoted(literal: string): string {
  return literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1)
}

function word(cursor: JsonCursor, expected: string): string {
  if (!cursor.text.startsWith(expected, cursor.at)) throw broken(cursor)
  cursor.at += expected.length
  return expected
}

function number(cursor: JsonCursor): string {
  const { text, at: start } = cursor
  let at = start
  let plain = true
  for (;;) {
    const code = text.charCodeAt(at)
    if (code < 0x30 || code > 0x39) {
      // The other characters that numbers are made of: + - . E e
      if (code !== 0x2d && code !== 0x2e && code !== 0x65 && code !== 0x45 && code !== 0x2b) break
      plain = false
    }
    if (Number.isNaN(code)) break
    at++
  }
  const literal = text.slice(start, at)
  cursor.at = at
  if (plain && literal.length > 0 && literal.length <= PLAIN_WHOLE_MAX_DIGITS) return literal
  return canonicalNumber(literal)
}

function broken(cursor: JsonCursor): SyntaxError {
  return new SyntaxError(`not JSON at character ${cursor.at}`)
}
