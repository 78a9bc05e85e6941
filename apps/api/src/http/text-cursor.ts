import { checkText, limits } from '@ranbook/contract'
import { HttpProblem } from './problem.ts'

// Lists are ordered by names, ids and numbers: nothing else is ever looked up.
const anyCursor = { minBytes: 1, maxBytes: limits.nameMaxBytes }

/** An opaque text for `next_cursor` of a list that is ordered by a name or a number. */
export function encodeTextCursor(last: string): string {
  return Buffer.from(last).toString('base64url')
}

/** What `encodeTextCursor` was given, null without a cursor. Throws `invalid_cursor` for any other text than it makes. */
export function decodeTextCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  const last = Buffer.from(cursor, 'base64url').toString()
  // Decoding overlooks foreign characters and mends bad UTF-8, so only the exact spelling counts.
  if (encodeTextCursor(last) !== cursor || checkText(last, anyCursor) !== null) throw invalidCursor()
  return last
}

/** The refusal of a cursor that this list did not make. */
export function invalidCursor(): HttpProblem {
  return new HttpProblem('invalid_cursor', 'Use next_cursor of the previous page unchanged, or leave cursor out.')
}
