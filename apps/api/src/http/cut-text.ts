/** Stands at the end of a text that was cut. */
const mark = '… [cut]'

/** The text itself, or as much of its beginning as fits into `maxBytes` of UTF-8 with a mark. No character is split. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text.slice(0, maxBytes))
  let end = maxBytes - Buffer.byteLength(mark)
  // The bytes of a character after its first begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + mark
}
