/** The name of `known` that takes the fewest inserted, removed or replaced characters to reach; the first of equals. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: { candidate: string; edits: number } | undefined
  for (const candidate of known) {
    const edits = editDistance(name, candidate)
    if (best === undefined || edits < best.edits) best = { candidate, edits }
  }
  return best?.candidate
}

function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
