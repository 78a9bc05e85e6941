import type { LeftOutReason } from '@ranbook/contract'
import {
  arm,
  type ListedRecord,
  type NewReplay,
  parseRecordId,
  type RecordFilter,
  type RecordStore,
  type ReplayFilter,
  type ReplaySelection,
  type Scope,
  unfiltered,
} from '@ranbook/rules'
import type { PolicyBook } from './ledger-deps.ts'
import { armingNeeds } from './replay-rules.ts'

/** A record as samples show it; null fields where none stands, or none that the caller may see. */
export type SampledRecord = { recordId: string; listed: ListedRecord | null }

/** What a replay would do now. `more`: counting ended at its time limit. */
export type ReplayCount = {
  count: number
  more: boolean
  mayRunAgain: number
  needsApproval: boolean
  sample: SampledRecord[]
  leftOut: Map<LeftOutReason, { count: number; sample: SampledRecord[] }>
  now: number
}

export type CountReplayDeps = {
  store: Pick<RecordStore, 'search'>
  policies: Pick<PolicyBook, 'policyFor'>
  monotonicMs: () => number
}

/** Nobody who asks waits longer; some hundred thousand records are counted by then. */
const countForMs = 3000
const pageRecords = 1000
const sampleRecords = 10

/**
 * Counts what a replay would arm and leave out, by the rule that it runs by, and changes nothing. Throws `StoreError` and
 * `PoliciesStale`.
 */
export async function countReplay(
  deps: CountReplayDeps,
  scope: Scope,
  selection: ReplaySelection,
  how: Pick<NewReplay, 'idempotency' | 'delivery'>,
): Promise<ReplayCount> {
  const counter = startCount(deps.policies, how)
  return 'recordIds' in selection
    ? countNamed(deps.store, scope, selection.recordIds, counter)
    : countFiltered(deps, scope, selection.filter, counter)
}

type Counter = {
  total: ReplayCount
  add(listed: ListedRecord, now: number): void
  leave(reason: LeftOutReason, sampled: SampledRecord): void
}

function startCount(
  policies: CountReplayDeps['policies'],
  { idempotency, delivery }: Pick<NewReplay, 'idempotency' | 'delivery'>,
): Counter {
  const counts = { count: 0, more: false, mayRunAgain: 0, needsApproval: false }
  const total: ReplayCount = { ...counts, sample: [], leftOut: new Map(), now: 0 }
  const leave: Counter['leave'] = (reason, sampled) => {
    const group = total.leftOut.get(reason) ?? { count: 0, sample: [] }
    group.count += 1
    if (group.sample.length < sampleRecords) group.sample.push(sampled)
    total.leftOut.set(reason, group)
  }
  const add: Counter['add'] = (listed, now) => {
    total.now = now
    const sampled = { recordId: `rec_${listed.record.digest}`, listed }
    const policy = policies.policyFor(listed.record.class)
    const order = { id: '', reason: '', idempotency }
    const needs = armingNeeds(policy, delivery, listed.hasPayload)
    const arming = arm({ ...listed.record, result: null }, order, needs, now)
    if (arming.kind === 'left_out') {
      leave(arming.reason, sampled)
      return
    }
    total.count += 1
    if (arming.mayRunAgain) total.mayRunAgain += 1
    if (policy.replay_approval === 'second_person') total.needsApproval = true
    if (total.sample.length < sampleRecords) total.sample.push(sampled)
  }
  return { total, add, leave }
}

async function countNamed(
  store: CountReplayDeps['store'],
  scope: Scope,
  recordIds: readonly string[],
  { total, add, leave }: Counter,
): Promise<ReplayCount> {
  const digests = recordIds.flatMap((id) => {
    const parsed = parseRecordId(id)
    return parsed?.store === 'ledger' ? [parsed.digest] : []
  })
  const { rows, now } = await store.search({ ...unfiltered, digests, scope: [scope], limit: recordIds.length })
  const found = new Map(rows.map((row) => [`rec_${row.record.digest}`, row]))
  for (const recordId of recordIds) {
    const listed = found.get(recordId)
    if (listed !== undefined) add(listed, now)
    else leave(recordId.startsWith('win_') ? 'window_class' : 'forgotten', { recordId, listed: null })
  }
  return total
}

async function countFiltered(
  { store, monotonicMs }: CountReplayDeps,
  scope: Scope,
  filter: ReplayFilter,
  { total, add }: Counter,
): Promise<ReplayCount> {
  const startedAt = monotonicMs()
  let after: RecordFilter['after'] = null
  for (;;) {
    const page = { ...unfiltered, ...filter, scope: [scope], after, limit: pageRecords }
    const { rows, now } = await store.search(page)
    for (const listed of rows) add(listed, now)
    const last = rows.at(-1)?.record
    if (last === undefined || rows.length < pageRecords) return total
    if (monotonicMs() - startedAt > countForMs) return { ...total, more: true }
    after = { firstClaimedAt: last.firstClaimedAt, digest: last.digest }
  }
}
