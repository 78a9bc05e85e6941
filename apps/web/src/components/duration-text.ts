const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** A duration in the largest unit it fills, cut to whole ones: `3 d`, `12 min`, `0 s`. Below a second in ms if `fine`. */
export function durationText(ms: number, fine = false): string {
  for (const [unit, length] of units) {
    if (ms >= length) return `${Math.floor(ms / length)} ${unit}`
  }
  return fine ? `${Math.max(0, Math.round(ms))} ms` : '0 s'
}
