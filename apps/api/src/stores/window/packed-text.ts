// Names and keys are nearly always of these characters: 6 bits for each instead of 8, which is 10 bytes of a typical
// record. The order is data: never change it.
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789.:-_/#@+=,|~ %&*()[]{}<>!?$;'

const codes = new Int8Array(0x80).fill(-1)
for (let code = 0; code < alphabet.length; code++) codes[alphabet.charCodeAt(code)] = code

/** Bytes for so many packed characters. */
export function packedLength(characters: number): number {
  return Math.ceil((characters * 6) / 8)
}

/** The text with 6 bits a character; null where it has others than lower-case letters, digits and common signs. */
export function packText(text: string): Buffer | null {
  const packed = Buffer.alloc(packedLength(text.length))
  let at = 0
  let bits = 0
  let held = 0
  for (let index = 0; index < text.length; index++) {
    const code = codes[text.charCodeAt(index)] ?? -1
    if (code < 0) return null
    bits = (bits << 6) | code
    held += 6
    if (held >= 8) {
      held -= 8
      packed[at] = bits >> held
      at += 1
      bits &= (1 << held) - 1
    }
  }
  if (held > 0) packed[at] = bits << (8 - held)
  return packed
}

/** What `packText` packed, of so many characters. */
export function unpackText(packed: Uint8Array, characters: number): string {
  let text = ''
  let bits = 0
  let held = 0
  let at = 0
  while (text.length < characters) {
    if (held < 6) {
      bits = (bits << 8) | (packed[at] ?? 0)
      at += 1
      held += 8
    }
    held -= 6
    text += alphabet[bits >> held]
    bits &= (1 << held) - 1
  }
  return text
}
