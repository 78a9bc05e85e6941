import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-cursor.ts'

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y
const SPACE = /[ \t\n\r]*/y

/** What may stand at a place: a value, a member's name, the colon after it, or what separates and ends. */
type Awaited = 'value' | 'value_or_end' | 'name' | 'name_or_end' | 'colon' | 'separator'

/**
 * Where `text` stops being JSON: the UTF-16 index of the first character that can't stand there, the text's length when
 * it ends too early, null when it is valid. Linear, any depth. For wording a refusal only: JSON.parse is the judge.
 */
export function findJsonFault(text: string): number | null {
  const open: number[] = []
  let awaited: Awaited = 'value'
  let at = 0
  for (;;) {
    at = match(SPACE, text, at) ?? at
    const code = text.charCodeAt(at)
    if (awaited === 'separator' && open.length === 0) return at === text.length ? null : at
    if (awaited === 'separator' || ((awaited === 'value_or_end' || awaited === 'name_or_end') && isClosing(code))) {
      const container = open.at(-1)
      if (code === (container === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        open.pop()
        awaited = 'separator'
      } else if (code === COMMA && awaited === 'separator') {
        awaited = container === OPEN_OBJECT ? 'name' : 'value'
      } else {
        return at
      }
      at++
    } else if (awaited === 'colon') {
      if (code !== COLON) return at
      awaited = 'value'
      at++
    } else if (awaited === 'name' || awaited === 'name_or_end') {
      if (code !== QUOTE) return at
      const end = stringEnd(text, at)
      if (end.fault !== null) return end.fault
      awaited = 'colon'
      at = end.at
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      open.push(code)
      awaited = code === OPEN_OBJECT ? 'name_or_end' : 'value_or_end'
      at++
    } else {
      const end = scalarEnd(text, at, code)
      if (end.fault !== null) return end.fault
      awaited = 'separator'
      at = end.at
    }
  }
}

interface End {
  readonly at: number
  readonly fault: number | null
}

function scalarEnd(text: string, at: number, code: number): End {
  if (code === QUOTE) return stringEnd(text, at)
  for (const word of ['true', 'false', 'null']) {
    if (text.startsWith(word, at)) return { at: at + word.length, fault: null }
  }
  const end = match(NUMBER, text, at)
  return end === null ? { at, fault: at } : { at: end, fault: null }
}

function stringEnd(text: string, start: number): End {
  let at = start + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return { at: at + 1, fault: null }
    if (code === BACKSLASH) {
      const end = match(ESCAPE, text, at + 1)
      if (end === null) return { at, fault: at }
      at = end
    } else if (code >= 0x20) {
      at++
    } else {
      // A raw control character, or NaN: the string never closes.
      return { at, fault: at }
    }
  }
}

function match(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}

function isClosing(code: number): boolean {
  return code === CLOSE_OBJECT || code === CLOSE_ARRAY
}
