import type { Policy } from '@ranbook/contract'
import {
  type Bounded,
  coversClass,
  durationText,
  matchPolicyName,
  newlyDue,
  type RetentionStore,
  type Scope,
  type SettledRange,
  shortRetention,
} from '@ranbook/rules'
import type { ClassBook } from './class-book.ts'

/** Enough to see what a policy does; counting more of a large ledger takes longer than anybody waits. */
const countedMax = 10_000
/** Counted in one request. A pattern over more classes is counted in part, and says so. */
const classesCounted = 200
const classesListed = 100

export type PreviewDeps = {
  store: Pick<RetentionStore, 'classesSeen' | 'countRecords' | 'countSettled'>
  classes: Pick<ClassBook, 'policyFor' | 'policyNames' | 'storeNow'>
}

/** What a policy would do now. Counts are of records in the ledger; `more`: there are more than were counted. */
export type Preview = {
  affected: Bounded
  erased: Bounded
  forgotten: Bounded
  move: { from: Policy['store']; to: Policy['store']; classes: string[]; sentence: string } | null
  warnings: string[]
}

/**
 * What would happen if `policy` stood under `name`: to every class seen that it would govern, within the scope. Erased and
 * forgotten are those that the present policy would leave. Changes nothing. Throws `StoreError`, `PoliciesStale`.
 */
export async function previewPolicy(
  { store, classes }: PreviewDeps,
  scope: Scope,
  name: string,
  policy: Policy,
): Promise<Preview> {
  const names = new Set([...classes.policyNames(), name])
  const seen = await store.classesSeen()
  const governed = seen.filter(
    (one) => coversClass(scope.classes, one) && matchPolicyName(one, (candidate) => names.has(candidate)) === name,
  )
  const counted = governed.slice(0, classesCounted)
  const now = classes.storeNow()
  const due = counted.map((one) => ({ class: one, ...newlyDue(classes.policyFor(one), policy, now) }))
  const ranges = (what: 'details' | 'keys', erased: false | null): SettledRange[] =>
    due.flatMap((one) => {
      const ended = one[what]
      return ended === null ? [] : [{ class: one.class, erased, ended }]
    })
  const part = counted.length < governed.length
  const told = ({ count, more }: Bounded): Bounded => ({ count, more: more || part })
  return {
    affected: told(await store.countRecords(counted, countedMax)),
    erased: told(await store.countSettled(ranges('details', false), countedMax)),
    forgotten: told(await store.countSettled(ranges('keys', null), countedMax)),
    move: moveOf(governed, policy, classes),
    warnings: warningsOf(policy),
  }
}

function moveOf(governed: readonly string[], policy: Policy, classes: PreviewDeps['classes']): Preview['move'] {
  const moving = governed.filter((one) => classes.policyFor(one).store !== policy.store)
  if (moving.length === 0) return null
  const from = policy.store === 'ledger' ? 'window' : 'ledger'
  const who = moving.length === 1 ? `${moving[0]} moves` : `${moving.length} classes move`
  const listed = moving.slice(0, classesListed)
  const move = `${who} from the ${from} to the ${policy.store}: for ten seconds keys that the ${from} does not know are refused.`
  return { from, to: policy.store, classes: listed, sentence: `${move} ${afterwards(policy)}` }
}

function afterwards({ store, key_retention_ms: keysMs }: Policy): string {
  if (store === 'ledger') return 'What its windows remember is asked for first until they have forgotten it.'
  const until = keysMs === null ? 'for ever' : `until key_retention_ms, ${durationText(keysMs)}, has emptied it`
  return `The ledger is asked first ${until}.`
}

function warningsOf(policy: Policy): string[] {
  const short = shortRetention(policy)
  const warnings = short === null ? [] : [short.sentence]
  const { details_retention_ms: detailsMs, key_retention_ms: keysMs } = policy
  if (detailsMs !== null && keysMs !== null && keysMs <= detailsMs) {
    warnings.push('Keys are forgotten before their details would be erased, so details_retention_ms does nothing.')
  }
  if (policy.store === 'window' && detailsMs !== null) {
    warnings.push('A window keeps few details; details_retention_ms counts for what the ledger still holds.')
  }
  return warnings
}
