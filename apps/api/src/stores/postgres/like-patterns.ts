/**
 * Class names and patterns of a scope as patterns of SQL's LIKE, in the same sense as `policyCovers`: a name matches
 * itself, `refund.*` longer names only, `*` everything.
 */
export function likePatterns(classes: readonly string[]): string[] {
  return classes.map((name) => {
    if (name === '*') return '%'
    return name.endsWith('*') ? `${escapeLike(name.slice(0, -1))}_%` : escapeLike(name)
  })
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (character) => `\\${character}`)
}
