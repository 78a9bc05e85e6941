import type { Coverage, CoverageLimit } from './coverage.ts'
import { durationText } from './duration-text.ts'
import type { WindowLossCause } from './placement.ts'
import { counted, named, utc } from './plain-text.ts'

const lossWords: Record<WindowLossCause, string> = {
  outage: 'Redis could not be asked',
  empty: 'Redis came back empty',
  flushed: 'Redis was flushed',
  evicted: 'Redis evicted keys',
  failed_over: 'Redis failed over',
  replaced: 'Redis was replaced',
}

/** What happened to Redis, such as `Redis was flushed`. */
export function lossText(cause: WindowLossCause): string {
  return lossWords[cause]
}

/** `1 class`, `2 classes`. */
export function classCount(count: number): string {
  return counted(count, 'class', 'classes')
}

/** Since when all of them are known in full, those that go back to the ledger's beginning first. */
export function completeText(coverage: readonly Coverage[], beganAt: number): string {
  const whole = coverage.filter(({ limit }) => limit === null).length
  const limited = coverage.filter(({ limit }) => limit !== null)
  const began = `since ${utc(beganAt)}, when this ledger began`
  const parts = whole === 0 ? [] : [`${classCount(whole)} ${whole === 1 ? 'is' : 'are'} complete ${began}`]
  if (limited.length > 0) {
    const [one] = limited
    const since = `since ${sinceText(limited)}`
    const verb = whole > 0 ? '' : limited.length === 1 ? 'is complete ' : 'are complete '
    parts.push(
      limited.length === 1 && one !== undefined
        ? `${withWindow(one)} ${verb}${since}`
        : `${classCount(limited.length)} ${verb}${since}`,
    )
  }
  return parts.join(', and ')
}

/** Why nothing is known of older runs, in one part per reason; the classes of one reason are named or counted. */
export function limitTexts(coverage: readonly Coverage[]): string[] {
  const of = <K extends CoverageLimit['kind']>(kind: K) =>
    coverage.flatMap((item) => (item.limit?.kind === kind ? [item] : []))
  return [
    unreachableText(of('window_unreachable')),
    overText(of('window_over')),
    lostText(of('window_lost')),
    forgottenText(of('keys_forgotten')),
  ].filter((text) => text !== null)
}

function unreachableText(items: readonly Coverage[]): string | null {
  const [one] = items
  if (one === undefined) return null
  return items.length === 1
    ? `the window of ${named(one.class)} can not be asked now`
    : `the windows of ${classCount(items.length)} can not be asked now`
}

function overText(items: readonly Coverage[]): string | null {
  const [one] = items
  if (one === undefined) return null
  return items.length === 1
    ? `in ${withWindow(one)} a run before ${sinceText(items)} would be forgotten`
    : `in ${classCount(items.length)} kept in windows a run before ${sinceText(items)} may be forgotten`
}

function lostText(items: readonly Coverage[]): string | null {
  const latest = items.toSorted((a, b) => b.completeSince - a.completeSince)[0]
  if (latest?.limit?.kind !== 'window_lost') return null
  const { cause, fromAt, toAt } = latest.limit
  const what = items.length === 1 ? named(latest.class) : classCount(items.length)
  return `in ${what} a run before ${sinceText(items)} may be lost, as ${lossText(cause)} between ${utc(fromAt)} and ${utc(toAt)}`
}

function forgottenText(items: readonly Coverage[]): string | null {
  const [one] = items
  if (one === undefined) return null
  const what = items.length === 1 ? named(one.class) : classCount(items.length)
  return `in ${what} a run before ${sinceText(items)} may be forgotten, as retention says`
}

function withWindow({ class: name, limit }: Coverage): string {
  return limit?.kind === 'window_over' ? `${named(name)}, a ${durationText(limit.windowMs)} window,` : named(name)
}

/** The latest, in whole seconds: never earlier than it is. */
function sinceText(items: readonly Coverage[]): string {
  return utc(Math.ceil(Math.max(...items.map(({ completeSince }) => completeSince)) / 1000) * 1000)
}
