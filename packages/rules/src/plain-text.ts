// Longer texts would drown the sentence around them; the whole text stands in the record.
const SHOWN_CHARACTERS = 120

/**
 * A text from outside, quoted for a sentence that people paste elsewhere: cut with a mark, line ends as spaces, and the
 * characters that turn the direction of writing spelled out, so that a key can't rearrange the words around it.
 */
export function quoted(text: string): string {
  const characters = [...text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')]
  const shown =
    characters.length > SHOWN_CHARACTERS ? `${characters.slice(0, SHOWN_CHARACTERS).join('')}…` : characters.join('')
  return `"${spelledOut(shown)}"`
}

/** A name (class, consumer, owner) for a sentence: as it is, direction marks spelled out. */
export function named(name: string): string {
  return spelledOut(name)
}

function spelledOut(text: string): string {
  return text.replace(/\p{Bidi_Control}/gu, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A time as people read it in every zone: `2026-11-30 10:00:00 UTC`. `ms` since 1970. */
export function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `1 class`, `2 classes`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
