import { durationText } from './duration-text.ts'
import { useNow } from './use-now.ts'

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
/** An hour ago is still "just now" to who looks into an incident; before, the date says more. */
const freshMs = 3_600_000

/** A time as its age while it is fresh, else in the local zone; in UTC on hover. */
export function Time({ at }: { at: string }) {
  const ageMs = useNow() - Date.parse(at)
  // The two clocks may differ a little.
  const isFresh = ageMs > -5000 && ageMs < freshMs
  return (
    <time dateTime={at} title={at}>
      {isFresh ? (ageMs < 1000 ? 'just now' : `${durationText(ageMs)} ago`) : local.format(new Date(at))}
    </time>
  )
}
