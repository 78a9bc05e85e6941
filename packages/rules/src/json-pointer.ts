import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  endOfString,
  jsonCursor,
  OPEN_ARRAY,
  OPEN_OBJECT,
  skipSpace,
  skipValue,
} from './json-cursor.ts'

/** Whether `text` is a JSON Pointer (RFC 6901): empty, or `/`-led steps in which `~` is only written `~0`, and `/` `~1`. */
export function isJsonPointer(text: string): boolean {
  return text === '' || (text.startsWith('/') && !/~(?![01])/.test(text))
}

/**
 * The parts of a JSON text that pointers name, each as the text it is, in document order. A pointer that leads nowhere
 * gives none; where a name is repeated, each of its members is found. An array's elements are named by their index,
 * without leading zeros; `-` leads nowhere. A pointer given twice finds its part once.
 */
export function selectPointers(text: string, pointers: readonly string[]): { pointer: string; text: string }[] {
  const found: { pointer: string; text: string }[] = []
  select(text, pointerTree(pointers), found)
  return found
}

/**
 * The JSON text without the members and elements that pointers name; null when one of them names the whole. All
 * pointers are about the text as given: removing one element does not move the others. What they name need not exist.
 */
export function removePointers(text: string, pointers: readonly string[]): string | null {
  const tree = pointerTree(pointers)
  return tree.pointer === null ? remove(text, tree) : null
}

interface PointerTree {
  /** The pointer that ends here, if one does. */
  pointer: string | null
  readonly children: Map<string, PointerTree>
}

function pointerTree(pointers: readonly string[]): PointerTree {
  const root: PointerTree = { pointer: null, children: new Map() }
  for (const pointer of pointers) {
    let node = root
    for (const step of pointer.split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      const child = node.children.get(name) ?? { pointer: null, children: new Map() }
      node.children.set(name, child)
      node = child
    }
    node.pointer = pointer
  }
  return root
}

function select(text: string, tree: PointerTree, found: { pointer: string; text: string }[]): void {
  if (tree.pointer !== null) found.push({ pointer: tree.pointer, text })
  if (tree.children.size === 0) return
  for (const { name, value } of listParts(text)) {
    const child = tree.children.get(name)
    if (child !== undefined) select(value, child, found)
  }
}

function remove(text: string, tree: PointerTree): string {
  const parts = listParts(text)
  if (parts.length === 0) return text
  const kept: string[] = []
  for (const { name, label, value } of parts) {
    const child = tree.children.get(name)
    if (child === undefined) kept.push(label + value)
    else if (child.pointer === null) kept.push(label + remove(value, child))
  }
  return text.startsWith('{') ? `{${kept.join(',')}}` : `[${kept.join(',')}]`
}

interface Part {
  /** Member name, unescaped, or index. */
  readonly name: string
  /** The name as written, with its colon; empty for an element. */
  readonly label: string
  /** The value's text, trimmed. */
  readonly value: string
}

/** Members or elements of the container that `text` is; none for a scalar. */
function listParts(text: string): Part[] {
  const parts: Part[] = []
  const cursor = jsonCursor(text)
  const opening = skipSpace(cursor)
  if (opening !== OPEN_OBJECT && opening !== OPEN_ARRAY) return parts
  const closing = opening === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY
  cursor.at++
  let code = skipSpace(cursor)
  while (code !== closing && cursor.at < text.length) {
    let label = ''
    let name = String(parts.length)
    if (opening === OPEN_OBJECT) {
      const literal = text.slice(cursor.at, endOfString(text, cursor.at))
      cursor.at += literal.length
      name = JSON.parse(literal)
      label = `${literal}:`
      skipSpace(cursor)
      cursor.at++
      skipSpace(cursor)
    }
    const start = cursor.at
    skipValue(cursor)
    parts.push({ name, label, value: text.slice(start, cursor.at) })
    code = skipSpace(cursor)
    if (code === COMMA) cursor.at++
    code = skipSpace(cursor)
  }
  return parts
}
