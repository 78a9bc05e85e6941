import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  type GaveUp,
  giveUp,
  type JsonCursor,
  jsonCursor,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  skipValue,
} from './json-cursor.ts'

/**
 * Which members of a body are looked at; it looks like the body it describes. `'text'`: the member's text is wanted.
 * A shape: an object whose own members are looked at too. A shape and a number: an array of at most so many such objects,
 * each an envelope of its own. A member that is not named, or whose value is of another kind than said, is passed over.
 */
export interface JsonShape {
  readonly [member: string]: 'text' | JsonShape | ListShape
}

type ListShape = readonly [item: JsonShape, maxItems: number]

/**
 * Values in one envelope, those of its texts and the items of its lists left out. Five times what any object of the
 * contract holds; the smallest of values takes 30 times more memory than text, and a batch has a thousand envelopes.
 */
const maxValues = 1000

/** What was seen of an object that a shape describes. */
export interface Skim {
  /** Where each member's name begins (its quote), repeats included. */
  readonly nameStarts: number[]
  /** The members that the shape names, in the order met: a value's text without white space around it, or a skim. */
  readonly found: { readonly name: string; readonly seen: string | Skim | (Skim | null)[] }[]
  /** Containers within one another, this one counted and items of lists left out. */
  depth: number
  /** Characters of the longest number, items of lists left out. */
  longestNumber: number
  /** Why something was not looked at to its end. */
  gaveUp: GaveUp | null
  /** Where the texts of the whole body stand, in order; only on the outermost. */
  readonly texts: Span[]
}

export type Span = { readonly start: number; readonly end: number }

/**
 * Reads a body's outline in one pass, linear in its length, without building its values. A list's items are null where
 * they are no objects; each object counts depth and numbers for itself.
 *
 * It is no judge of syntax: on text that is not JSON the outline means nothing. But up to the first syntax error skim
 * and JSON.parse see the same, so JSON.parse never goes deeper than the depth measured here.
 */
export function skimJson(text: string, shape: JsonShape): Skim {
  const cursor = jsonCursor(text)
  const texts: Span[] = []
  if (skipSpace(cursor) === OPEN_OBJECT) return skimEnvelope({ cursor, texts }, shape)
  const skim = emptySkim(texts)
  skipLoose(cursor)
  return measured(skim, cursor)
}

/** One reading: where it is, and the texts found so far. */
type Reading = { readonly cursor: JsonCursor; readonly texts: Span[] }

function emptySkim(texts: Span[]): Skim {
  return { nameStarts: [], found: [], depth: 0, longestNumber: 0, gaveUp: null, texts }
}

function measured(skim: Skim, cursor: JsonCursor): Skim {
  skim.depth = cursor.deepest
  skim.longestNumber = cursor.longestNumber
  skim.gaveUp = cursor.gaveUp
  return skim
}

function skimEnvelope(reading: Reading, shape: JsonShape): Skim {
  const { cursor } = reading
  const { open, deepest, longestNumber, values } = cursor
  cursor.open = 0
  cursor.deepest = 0
  cursor.longestNumber = 0
  cursor.values = 0
  const skim = measured(skimObject(reading, shape), cursor)
  cursor.open = open
  cursor.deepest = deepest
  cursor.longestNumber = longestNumber
  cursor.values = values
  return skim
}

function skimObject(reading: Reading, shape: JsonShape): Skim {
  const { cursor, texts } = reading
  const skim = emptySkim(texts)
  cursor.at++
  if (++cursor.open > cursor.deepest) cursor.deepest = cursor.open
  let code = skipSpace(cursor)
  while (code === QUOTE) {
    skim.nameStarts.push(cursor.at)
    const name = knownName(cursor, shape)
    if (skipSpace(cursor) !== COLON) break
    cursor.at++
    const first = skipSpace(cursor)
    const wanted = name === undefined ? undefined : shape[name]
    cursor.values++
    if (name === undefined || wanted === undefined) {
      skipLoose(cursor)
    } else if (wanted === 'text') {
      skim.found.push({ name, seen: skimText(reading) })
    } else if (isList(wanted) && first === OPEN_ARRAY) {
      skim.found.push({ name, seen: skimList(reading, name, wanted) })
    } else if (!isList(wanted) && first === OPEN_OBJECT) {
      skim.found.push({ name, seen: skimObject(reading, wanted) })
    } else {
      skipLoose(cursor)
    }
    code = skipSpace(cursor)
    if (code !== COMMA) break
    cursor.at++
    code = skipSpace(cursor)
  }
  if (code === CLOSE_OBJECT) cursor.at++
  cursor.open--
  return skim
}

/** Moves past a value that is built. */
function skipLoose(cursor: JsonCursor): void {
  skipValue(cursor)
  if (cursor.values > maxValues) giveUp(cursor, 'too_many_values')
}

function skimText({ cursor, texts }: Reading): string {
  const { at: start, text, values } = cursor
  skipValue(cursor)
  cursor.values = values
  if (values > maxValues) giveUp(cursor, 'too_many_values')
  texts.push({ start, end: cursor.at })
  return text.slice(start, cursor.at)
}

function skimList(reading: Reading, list: string, [shape, maxItems]: ListShape): (Skim | null)[] {
  const { cursor } = reading
  const items: (Skim | null)[] = []
  cursor.at++
  if (++cursor.open > cursor.deepest) cursor.deepest = cursor.open
  let code = skipSpace(cursor)
  while (code !== CLOSE_ARRAY && cursor.at < cursor.text.length) {
    if (items.length === maxItems) {
      giveUp(cursor, { list, maxItems })
    } else if (code === OPEN_OBJECT) {
      items.push(skimEnvelope(reading, shape))
    } else {
      skipLoose(cursor)
      items.push(null)
    }
    code = skipSpace(cursor)
    if (code !== COMMA) break
    cursor.at++
    code = skipSpace(cursor)
  }
  if (code === CLOSE_ARRAY) cursor.at++
  cursor.open--
  return items
}

/** Moves past a name, and returns the shape's own spelling of it when the shape has it. */
function knownName(cursor: JsonCursor, shape: JsonShape): string | undefined {
  const { text } = cursor
  const start = cursor.at + 1
  let at = start
  let code = text.charCodeAt(at)
  while (code !== QUOTE && code !== BACKSLASH && at < text.length) code = text.charCodeAt(++at)
  if (code === BACKSLASH) {
    cursor.at = endOfString(text, start - 1)
    const name = nameAt(text, start - 1)
    return Object.keys(shape).find((known) => known === name)
  }
  cursor.at = at + 1
  for (const known in shape) {
    if (known.length === at - start && text.startsWith(known, start)) return known
  }
  return undefined
}

/** The name that begins at `start`, unescaped. */
export function nameAt(text: string, start: number): string {
  const literal = text.slice(start, endOfString(text, start))
  try {
    return JSON.parse(literal)
  } catch {
    // A broken escape: JSON.parse will refuse the body for it.
    return literal
  }
}

function isList(wanted: JsonShape | ListShape): wanted is ListShape {
  return Array.isArray(wanted)
}
