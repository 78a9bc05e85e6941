import type { Policy } from '@ranbook/contract'
import {
  type Bounded,
  type EndedSpan,
  newlyDue,
  type Retention,
  type RetentionProgress,
  type RetentionStore,
  type Scope,
} from '@ranbook/rules'
import type { ClassBook } from './class-book.ts'

/** More than a run does in a minute: a larger backlog is told as at least this. */
const dueCountedMax = 10_000

export type ReadRetentionDeps = {
  store: Pick<RetentionStore, 'progress' | 'countSettled'>
  classes: Pick<ClassBook, 'policyFor'>
}

/** One class: what was done, by which policy, and what is due by it. */
export type ClassRetention = {
  progress: RetentionProgress
  policy: Policy
  due: { details: Bounded; keys: Bounded }
}

/**
 * Classes seen within the scope, by name above `after`; `last` is the name to go on from, null where nothing is left.
 * Throws `StoreError`, and `PoliciesStale` where a policy of a newer version governs one of them.
 */
export async function readRetention(
  { store, classes }: ReadRetentionDeps,
  scope: Scope,
  after: string | null,
  limit: number,
): Promise<{ rows: ClassRetention[]; last: string | null }> {
  const { rows, now } = await store.progress(scope, after, limit + 1)
  const page = rows.slice(0, limit)
  const found: ClassRetention[] = []
  for (const progress of page) {
    const policy = classes.policyFor(progress.class)
    const spans = newlyDue(nothingDue, policy, now)
    const count = async (ended: EndedSpan | null, erased: false | null): Promise<Bounded> =>
      ended === null ? none : store.countSettled([{ class: progress.class, erased, ended }], dueCountedMax)
    const due = { details: await count(spans.details, false), keys: await count(spans.keys, null) }
    found.push({ progress, policy, due })
  }
  return { rows: found, last: rows.length > limit ? (page.at(-1)?.class ?? null) : null }
}

const none: Bounded = { count: 0, more: false }
const nothingDue: Retention = { details_retention_ms: null, key_retention_ms: null }
