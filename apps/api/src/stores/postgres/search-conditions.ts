import type { RecordState } from '@ranbook/contract'
import type { RecordFilter } from '@ranbook/rules'
import { plainArray, textArray } from './array-literal.ts'
import { likePatterns } from './like-patterns.ts'

/** A WHERE clause over `record AS r`; texts come from the code only, what a caller gave stands in `parameters`. */
export type Conditions = { texts: readonly string[]; parameters: readonly (string | number | null)[] }

/**
 * Records as they show, see `visibleState`. Numbers of states stand here as literals, so that the partial index of the
 * rare ones can be used; its other half, claims whose end was noticed, is named for the same reason.
 */
const stateConditions: Readonly<Record<RecordState, string>> = {
  claimed: `r.state = 1 AND (r.sweep_at IS NULL OR r.sweep_at IS NOT NULL)
    AND NOT (r.on_lease_expiry = 2 AND r.lease_expires_at < date_trunc('milliseconds', now()))`,
  completed: 'r.state = 2',
  failed: 'r.state = 3',
  dead: 'r.state = 4',
  held: `(r.state = 5 OR (r.state = 1 AND r.on_lease_expiry = 2 AND r.sweep_at < date_trunc('milliseconds', now())))`,
  skipped: 'r.state = 6',
  ready: 'r.state = 7',
}

/** A filter as conditions over `record AS r`; every value of it becomes a parameter. */
export function searchConditions(filter: RecordFilter): Conditions {
  const texts: string[] = []
  const parameters: (string | number | null)[] = []
  const parameter = (value: string | number | null): string => `$${parameters.push(value)}`

  const { digests, scope, after } = filter
  if (digests !== null) texts.push(`r.id = ANY (${parameter(plainArray(digests))}::uuid[])`)
  if (scope !== null) {
    const parts = scope.map(({ classes, consumer }) => {
      const ofClass = `r.class LIKE ANY (${parameter(textArray(likePatterns(classes)))}::text[])`
      return consumer === null ? ofClass : `(${ofClass} AND r.consumer = ${parameter(consumer)})`
    })
    texts.push(parts.length === 0 ? 'false' : `(${parts.join(' OR ')})`)
  }
  if (filter.class !== null) texts.push(`r.class = ${parameter(filter.class)}`)
  if (filter.consumer !== null) texts.push(`r.consumer = ${parameter(filter.consumer)}`)
  if (filter.state !== null) texts.push(stateConditions[filter.state])
  if (filter.keyPrefix !== null) texts.push(`starts_with(r.key, ${parameter(filter.keyPrefix)})`)
  if (filter.ref !== null) texts.push(`r.refs @> ARRAY[${parameter(filter.ref)}]`)
  if (filter.source !== null) texts.push(`r.source = ${parameter(filter.source)}`)
  if (filter.seq !== null) texts.push(`r.seq = ${parameter(filter.seq)}::bigint`)
  if (filter.from !== null) texts.push(`r.first_claimed_at >= to_timestamp(${parameter(filter.from / 1000)}::float8)`)
  if (filter.to !== null) texts.push(`r.first_claimed_at < to_timestamp(${parameter(filter.to / 1000)}::float8)`)
  if (after !== null) {
    const time = `to_timestamp(${parameter(after.firstClaimedAt / 1000)}::float8)`
    texts.push(`(r.first_claimed_at, r.id) < (${time}, ${parameter(after.digest)}::uuid)`)
  }
  if (texts.length === 0) texts.push('true')
  return { texts, parameters }
}
