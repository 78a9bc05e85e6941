// Columns travel as PostgreSQL's array literals, one per column: `unnest` makes rows of them. A column without a single
// value travels as NULL, of which `unnest` makes a column of NULLs for nothing.

/** Numbers and UUIDs: values that need no quotes. */
export function plainArray(values: readonly (string | number | null)[]): string | null {
  let literal = '{'
  let hasValue = false
  for (const value of values) {
    if (value !== null) hasValue = true
    literal += value === null ? 'NULL,' : `${value},`
  }
  return hasValue ? `${literal.slice(0, -1)}}` : null
}

/** Any texts, JSON included. */
export function textArray(values: readonly (string | null)[]): string | null {
  let literal = '{'
  let hasValue = false
  for (const value of values) {
    if (value !== null) hasValue = true
    literal += value === null ? 'NULL,' : `"${escapeText(value)}",`
  }
  return hasValue ? `${literal.slice(0, -1)}}` : null
}

/** Bytes, each given as hex digits. */
export function bytesArray(values: readonly (string | null)[]): string | null {
  return textArray(values.map((hex) => (hex === null ? null : `\\x${hex}`)))
}

/** Times given in ms since 1970, as the seconds that `to_timestamp` takes: a double keeps the milliseconds exactly. */
export function timeArray(values: readonly (number | null)[]): string | null {
  return plainArray(values.map((ms) => (ms === null ? null : ms / 1000)))
}

const special = /["\\]/
const everySpecial = /["\\]/g

function escapeText(text: string): string {
  return special.test(text) ? text.replace(everySpecial, '\\$&') : text
}
