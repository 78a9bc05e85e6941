import { HttpProblem } from './problem.ts'

/** The last row of a page: the next one begins after it. */
export type PagePosition = { firstClaimedAt: number; digest: string }

const CURSOR = /^(\d{1,15})\.([0-9a-f]{32})$/

/** An opaque text for `next_cursor`. */
export function encodeCursor(firstClaimedAt: number, digest: string): string {
  return Buffer.from(`${firstClaimedAt}.${digest}`).toString('base64url')
}

/** The position a cursor stands for. Throws `invalid_cursor` for any other text than `encodeCursor` makes. */
export function decodeCursor(text: string): PagePosition {
  const match = CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1'))
  const position = match && { firstClaimedAt: Number(match[1]), digest: match[2] ?? '' }
  // Base64 decoding overlooks foreign characters, so only the exact spelling counts.
  if (position === null || encodeCursor(position.firstClaimedAt, position.digest) !== text) {
    throw new HttpProblem('invalid_cursor', 'Use next_cursor of the previous page unchanged, or leave cursor out.')
  }
  return position
}
