import type { Verdict } from '@ranbook/contract'
import type { Coverage } from './coverage.ts'
import { classCount, completeText, limitTexts } from './coverage-text.ts'
import { counted, named, quoted, utc } from './plain-text.ts'
import type { Scope } from './scope.ts'

/** What a lookup found, for its one sentence. Times in ms. */
export type LookupFacts = {
  question: string
  verdict: Verdict
  /**
   * How many records were found (`more`: further ones match), and the sentence of the one that decides the verdict; null
   * where none can, as one that runs may be among those that were not looked at. Null as a whole: none was found.
   */
  found: { sentence: string | null; count: number; more: boolean } | null
  /** When the event occurred, as asked; null: since the ledger began. */
  at: number | null
  beganAt: number
  checkedAt: number
  coverage: readonly Coverage[]
  /** The class and consumer that the question was limited to. */
  only: { class: string | null; consumer: string | null }
  /** What the caller may read, where that is not everything. */
  scope: Scope | null
  /** The class or consumer asked for lies outside what the caller may read: nothing was looked at. */
  outOfScope: boolean
}

/** The answer to "did this ever run?" in one sentence, with what it was limited to and the coverage it rests on. */
export function lookupSentence(facts: LookupFacts): string {
  const limits = limitsText(facts)
  const text = facts.found === null ? `${noneText(facts)} (` : `${foundText(facts, facts.found)} (`
  const opened = limits === '' ? text : `${limits}: ${text}`
  const asOf = `as of ${utc(facts.checkedAt)}${facts.found === null ? '' : `; ${askedText(facts)}`}`
  // A record's sentence begins with the name of its class, which stays as it is.
  const start = limits === '' && facts.found?.sentence != null ? opened : capitalized(opened)
  return `${start}${asOf}).`
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function limitsText({ scope, only }: LookupFacts): string {
  const within = scope === null ? [] : [`within ${scopeText(scope)}`]
  return [...within, ...onlyText(only)].join(', ')
}

function scopeText({ classes, consumer }: Scope): string {
  const classText = classes.includes('*')
    ? 'every class'
    : `the ${classes.length === 1 ? 'class' : 'classes'} ${classes.map(named).join(', ')}`
  return consumer === null ? classText : `${classText} for the consumer ${named(consumer)}`
}

function onlyText({ class: className, consumer }: LookupFacts['only']): string[] {
  const names = [
    ...(consumer === null ? [] : [`the consumer ${named(consumer)}`]),
    ...(className === null ? [] : [`the class ${named(className)}`]),
  ]
  return names.length === 0 ? [] : [`for ${names.join(' and ')}`]
}

function foundText({ question }: LookupFacts, { sentence, count, more }: NonNullable<LookupFacts['found']>): string {
  const least = more ? 'at least ' : ''
  if (sentence === null) {
    const records = counted(count, 'record has', 'records have')
    return `${least}${records} the key, id or reference ${quoted(question)} and none of them completed, yet whether one is running is unknown: more of them were claimed and not settled than one answer looks at`
  }
  if (count === 1) return sentence.slice(0, -1)
  return `${sentence.slice(0, -1)}; ${least}${counted(count - 1, 'other record matches', 'other records match')}`
}

function noneText(facts: LookupFacts): string {
  const none = `no record has the key, id or reference ${quoted(facts.question)}`
  return facts.verdict === 'never'
    ? `${none}: ${neverText(facts)}`
    : `${none}, yet whether it ran is unknown: ${unknownText(facts)}`
}

function askedText({ coverage, beganAt }: LookupFacts): string {
  const limits = limitTexts(coverage)
  const whole = coverage.filter(({ limit }) => limit === null).length
  const asked = `${classCount(coverage.length)} asked`
  if (limits.length === 0) return `${asked}, complete since ${utc(beganAt)}`
  return [asked, ...(whole === 0 ? [] : [`${whole} complete since ${utc(beganAt)}`]), ...limits].join('; ')
}

function neverText({ coverage, beganAt, at }: LookupFacts): string {
  if (coverage.length === 0) return `nothing was claimed since ${utc(beganAt)}, when this ledger began`
  const what = at === null ? 'it' : `an event of ${utc(at)}, the time asked,`
  return `${what} never ran here; ${completeText(coverage, beganAt)}`
}

function unknownText(facts: LookupFacts): string {
  const { coverage, beganAt, checkedAt, at, outOfScope, only, scope } = facts
  if (outOfScope) return 'the class or consumer asked for lies outside what this key may read'
  if (coverage.every(({ gap }) => gap?.kind === 'never_claimed')) return neverClaimedText(only, scope)
  if (at !== null && at < beganAt) return `this ledger began at ${utc(beganAt)}, after ${utc(at)}, the time asked`
  if (at !== null && at > checkedAt) return `${utc(at)}, the time asked, is still to come`
  const known = coverage.filter(({ gap }) => gap === null)
  const newer = coverage.flatMap(({ class: name, gap }) => (gap?.kind === 'class_newer' ? [{ name, ...gap }] : []))
  const limited = coverage.filter(({ gap, limit }) => gap !== null && gap === limit)
  const why = [...(newer.length === 0 ? [] : [newerText(newer)]), ...limitTexts(limited)].join('; ')
  if (at === null) return known.length === 0 ? why : `${completeText(known, beganAt)}, but ${why}`
  const verb = known.length === 1 ? 'was' : 'were'
  const complete = known.length === 0 ? '' : `${classCount(known.length)} ${verb} complete, but `
  return `at ${utc(at)}, the time asked, ${complete}${why}`
}

/** Why silence proves nothing: the names asked may be slips of the pen. */
function neverClaimedText({ class: className, consumer }: LookupFacts['only'], scope: Scope | null): string {
  if (consumer !== null) {
    const what = className === null ? '' : ` the class ${named(className)}`
    return `the consumer ${named(consumer)} has never claimed${what} here`
  }
  if (className !== null) return `the class ${named(className)} was never claimed here`
  return scope === null ? 'nothing was ever claimed here' : 'nothing that this key may read was ever claimed here'
}

function newerText(newer: readonly { name: string; firstSeenAt: number }[]): string {
  const [first] = newer
  const what =
    newer.length > 1 || first === undefined
      ? `${classCount(newer.length)} had not been claimed here`
      : `${named(first.name)} had not been claimed here, which began at ${utc(first.firstSeenAt)}`
  return `${what}, so an earlier run would not be known`
}
