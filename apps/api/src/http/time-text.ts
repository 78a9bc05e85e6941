const dayMs = 86_400_000
const twoDigits = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'))

let lastDay = Number.NaN
let lastDate = ''

/**
 * A time as the wire writes it: RFC 3339, UTC, milliseconds. Whole milliseconds since 1970. Answers hold several, nearly
 * all of one day, whose date is kept: a quarter of what `toISOString` takes.
 */
export function timeText(ms: number): string {
  const day = Math.floor(ms / dayMs)
  if (day !== lastDay) {
    lastDay = day
    lastDate = new Date(day * dayMs).toISOString().slice(0, -'00:00:00.000Z'.length)
  }
  const rest = ms - day * dayMs
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  const millis = String(rest - seconds * 1000).padStart(3, '0')
  return `${lastDate}${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}.${millis}Z`
}
