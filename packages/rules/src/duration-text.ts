const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

// A day is told in hours, as people speak of a 24 h window.
const units = [
  { unit: 'd', ms: dayMs, from: 2 * dayMs },
  { unit: 'h', ms: hourMs, from: hourMs },
  { unit: 'min', ms: minuteMs, from: minuteMs },
  { unit: 's', ms: 1000, from: 1000 },
]

/** A duration as people say it, exact: `24 h`, `30 d`, `90 min`, `1500 ms`. */
export function durationText(ms: number): string {
  const unit = units.find((one) => ms >= one.from && ms % one.ms === 0)
  return unit === undefined ? `${ms} ms` : `${ms / unit.ms} ${unit.unit}`
}
