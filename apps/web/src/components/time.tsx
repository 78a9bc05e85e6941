const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

/** A time in the local zone, relative within the last hour, in UTC on hover. */
export function Time({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={at}>
      {say(date, Date.now())}
    </time>
  )
}

function say(date: Date, nowMs: number): string {
  const ageSeconds = Math.round((nowMs - date.getTime()) / 1000)
  if (ageSeconds < 0 || ageSeconds >= 3600) return local.format(date)
  return ageSeconds < 60 ? relative.format(-ageSeconds, 'second') : relative.format(-Math.floor(ageSeconds / 60), 'minute')
}
