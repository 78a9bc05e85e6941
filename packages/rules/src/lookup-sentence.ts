import type { Verdict } from '@ranbook/contract'
import type { Coverage } from './coverage.ts'
import { counted, named, quoted, utc } from './plain-text.ts'

/** What a lookup found, for its one sentence. Times in ms. */
export type LookupFacts = {
  question: string
  verdict: Verdict
  /** Sentence of the record that decides the verdict, and how many others match; null when none was found. */
  found: { sentence: string; others: number; more: boolean } | null
  /** When the event occurred, as asked; null: since the ledger began. */
  at: number | null
  beganAt: number
  checkedAt: number
  coverage: readonly Coverage[]
  /** What the caller may read, where that is not everything. */
  scope: { classes: readonly string[]; consumer: string | null } | null
  /** The class or consumer asked for lies outside what the caller may read: nothing was looked at. */
  outOfScope: boolean
}

/** The answer to "did this ever run?" in one sentence, with the coverage it rests on and the scope it is limited to. */
export function lookupSentence(facts: LookupFacts): string {
  const within = facts.scope === null ? '' : `Within ${scopeText(facts.scope)}: `
  const asOf = `as of ${utc(facts.checkedAt)}`
  if (facts.found !== null) {
    const { sentence, others, more } = facts.found
    const rest =
      others === 0
        ? ''
        : `; ${more ? 'at least ' : ''}${counted(others, 'other record matches', 'other records match')}`
    return `${within}${sentence.slice(0, -1)}${rest} (${asOf}; ${askedText(facts)}).`
  }
  const none = `no record has the key, id or reference ${quoted(facts.question)}`
  const text =
    facts.verdict === 'never'
      ? `${none}: ${neverText(facts)}`
      : `${none}, yet whether it ran is unknown: ${unknownText(facts)}`
  return `${within === '' ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : `${within}${text}`} (${asOf}).`
}

function scopeText({ classes, consumer }: { classes: readonly string[]; consumer: string | null }): string {
  const classText = classes.includes('*')
    ? 'every class'
    : `the ${classes.length === 1 ? 'class' : 'classes'} ${classes.map(named).join(', ')}`
  return consumer === null ? classText : `${classText} for the consumer ${named(consumer)}`
}

function classCount(count: number): string {
  return counted(count, 'class', 'classes')
}

function askedText({ coverage, beganAt }: LookupFacts): string {
  return `${classCount(coverage.length)} asked, complete since ${utc(beganAt)}`
}

function neverText({ coverage, beganAt, at }: LookupFacts): string {
  const began = `${utc(beganAt)}, when this ledger began`
  if (coverage.length === 0) return `nothing was claimed since ${began}`
  const complete = `${classCount(coverage.length)} ${coverage.length === 1 ? 'is' : 'are'} complete since ${began}`
  return at === null
    ? `it never ran here; ${complete}`
    : `it never ran here since ${utc(at)}, the time asked; ${complete}`
}

function unknownText({ coverage, beganAt, at, outOfScope }: LookupFacts): string {
  if (outOfScope) return 'the class or consumer asked for lies outside what this key may read'
  const asked = at === null ? 'the time asked' : `${utc(at)}, the time asked`
  if (at !== null && at < beganAt) return `this ledger began at ${utc(beganAt)}, after ${asked}`
  const newer = coverage.filter(({ gap }) => gap !== null)
  if (newer.length === 0) return `no class had been claimed here by ${asked}`
  const complete = coverage.length - newer.length
  const known = complete === 0 ? '' : `${classCount(complete)} ${complete === 1 ? 'was' : 'were'} complete, but `
  return `at ${asked}, ${known}${newerText(newer)}, so an earlier run would not be known`
}

function newerText(newer: readonly Coverage[]): string {
  const [first] = newer
  if (newer.length > 1 || first === undefined) return `${classCount(newer.length)} had not been claimed here`
  const seen = first.gap?.kind === 'class_newer' ? first.gap.firstSeenAt : null
  const name = named(first.class)
  return seen === null
    ? `${name} had not been claimed here`
    : `${name} had not been claimed here, which began at ${utc(seen)}`
}
