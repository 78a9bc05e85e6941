import { type AttentionAction, type AttentionKind, attentionKinds, resolutions } from '@ranbook/contract'
import {
  type AttentionBounds,
  type AttentionStore,
  coversClass,
  type Found,
  lateCompletionSentence,
  mismatchSentence,
  newConsumerSentence,
  type RecordAttention,
  recordAttentionSentence,
  recordId,
  type Scope,
  type StoreWarning,
  seesEverything,
  shortRetention,
  shortRetentionSentence,
  unreviewedClassSentence,
  type WindowLoss,
  windowLossSentence,
} from '@ranbook/rules'
import type { ClassBook } from './class-book.ts'

export type AttentionDeps = {
  store: AttentionStore
  classes: Pick<ClassBook, 'placesKnown' | 'storeNow'>
  /** How stores are set up or reached, as this process knows it. */
  storeWarnings: () => readonly StoreWarning[]
}

/** One thing to look at; `id` is the same as long as it is the same thing. Times in ms. */
export type Attention = {
  id: string
  kind: AttentionKind
  since: number
  class: string | null
  recordId: string | null
  target: string | null
  sentence: string
  actions: readonly AttentionAction[]
}

/** `items` by kind, in the order of `attentionKinds`; `more`: kinds of which not all candidates were looked at. */
export type AttentionAnswer = {
  checkedAt: number
  items: Attention[]
  counts: Record<AttentionKind, number>
  more: AttentionKind[]
}

/** A hundred of one kind are a day's work; what 5 000 candidates hold is read in some ten milliseconds. */
const bounds: AttentionBounds = { shown: 100, lookedAt: 5000 }
/** Windows show a loss for as long as late completions are shown. */
const lossShownMs = 7 * 86_400_000

/**
 * What a person should look at, within the caller's scope: of records outside it nothing is told. What tells of other
 * consumers (a new one on a known class) is left out for a caller of one consumer, and what concerns the service as a
 * whole is for callers who see everything. One kind after the other, so that a page that is open somewhere holds one
 * connection at most. Throws `StoreError`.
 */
export async function attention(deps: AttentionDeps, scope: Scope): Promise<AttentionAnswer> {
  const { store } = deps
  const checkedAt = Math.floor(deps.classes.storeNow())
  const records = await store.records(scope, bounds)
  const ofRecords = (kind: RecordAttention): Found<Attention> =>
    mapFound(records[kind], (record) => {
      const id = recordId({ digest: record.digest, window: null })
      return {
        ...item(kind, [id], record),
        recordId: id,
        sentence: recordAttentionSentence(kind, record),
        actions: resolutions,
      }
    })

  const found: Record<AttentionKind, Found<Attention>> = {
    held: ofRecords('held'),
    dead: ofRecords('dead'),
    late_completion: await lateCompletions(deps, scope),
    interrupted: ofRecords('interrupted'),
    failed: ofRecords('failed'),
    ready: ofRecords('ready'),
    mismatch: mapFound(await store.mismatches(scope, bounds), (mismatch) => ({
      ...item('mismatch', [mismatch.recordId], { class: mismatch.class, since: mismatch.firstAt }),
      recordId: mismatch.recordId,
      sentence: mismatchSentence(mismatch),
    })),
    window_lost: foundAll(windowsLost(deps, scope, checkedAt)),
    store_warning: foundAll(storeWarnings(deps, scope)),
    short_retention: foundAll(await shortRetentions(deps, scope)),
    new_consumer: scope.consumer === null ? await newConsumers(deps, scope) : foundAll([]),
    unreviewed_class: mapFound(await store.unreviewedClasses(scope, bounds), (unreviewed) => ({
      ...item('unreviewed_class', [unreviewed.class], { class: unreviewed.class, since: unreviewed.firstSeenAt }),
      sentence: unreviewedClassSentence(unreviewed),
      actions: ['review', 'edit_policy'],
    })),
  }
  return {
    checkedAt,
    items: attentionKinds.flatMap((kind) => found[kind].rows),
    counts: Object.fromEntries(attentionKinds.map((kind) => [kind, found[kind].count])) as AttentionAnswer['counts'],
    more: attentionKinds.filter((kind) => found[kind].more),
  }
}

async function lateCompletions({ store }: AttentionDeps, scope: Scope): Promise<Found<Attention>> {
  return mapFound(await store.lateCompletions(scope, bounds), (late) => {
    const id = recordId({ digest: late.digest, window: null })
    const decided = late.state === 'completed' || late.state === 'skipped' || late.state === 'claimed'
    return {
      ...item('late_completion', [id], { class: late.class, since: late.firstAt }),
      recordId: id,
      sentence: lateCompletionSentence(late),
      actions: decided ? [] : resolutions,
    }
  })
}

async function newConsumers({ store }: AttentionDeps, scope: Scope): Promise<Found<Attention>> {
  return mapFound(await store.newConsumers(scope, bounds), (one) => ({
    ...item('new_consumer', [one.class, one.consumer], { class: one.class, since: one.firstSeenAt }),
    target: one.consumer,
    sentence: newConsumerSentence(one),
  }))
}

async function shortRetentions({ store }: AttentionDeps, scope: Scope): Promise<Attention[]> {
  const policies = await store.policies(scope)
  return policies.flatMap(({ name, policy, updatedAt }) => {
    // Null where a newer version wrote it: that one tells.
    const short = policy === null ? null : shortRetention(policy)
    if (short === null) return []
    const shown = item('short_retention', [name], { class: name, since: updatedAt })
    return [{ ...shown, sentence: shortRetentionSentence(name, short), actions: ['edit_policy'] as const }]
  })
}

function windowsLost({ classes }: AttentionDeps, scope: Scope, now: number): Attention[] {
  const seen = ({ class: name }: WindowLoss): boolean =>
    name === null ? seesEverything(scope) : coversClass(scope.classes, name)
  return classes
    .placesKnown()
    .losses.filter((loss) => loss.untilAt >= now - lossShownMs && seen(loss))
    .map((loss) => ({
      ...item('window_lost', [loss.class ?? '*', loss.cause, String(loss.fromAt)], {
        class: loss.class,
        since: loss.fromAt,
      }),
      sentence: windowLossSentence(loss),
    }))
}

function storeWarnings(deps: AttentionDeps, scope: Scope): Attention[] {
  if (!seesEverything(scope)) return []
  return deps.storeWarnings().map(({ since, target, sentence }) => ({
    ...item('store_warning', [target, String(since)], { class: null, since }),
    target,
    sentence,
  }))
}

/** An item that says nothing yet and that nothing can be done about. */
function item(kind: AttentionKind, names: readonly string[], about: Pick<Attention, 'class' | 'since'>): Attention {
  const id = [kind, ...names.map(encodeURIComponent)].join(':')
  return { id, kind, since: about.since, class: about.class, recordId: null, target: null, sentence: '', actions: [] }
}

function mapFound<Row>(found: Found<Row>, itemOf: (row: Row) => Attention): Found<Attention> {
  return { ...found, rows: found.rows.map(itemOf) }
}

/** All of a kind that is at hand, those shown cut like any other's. */
function foundAll(items: readonly Attention[]): Found<Attention> {
  const latest = [...items].sort((a, b) => b.since - a.since)
  return { rows: latest.slice(0, bounds.shown), count: items.length, more: false }
}
